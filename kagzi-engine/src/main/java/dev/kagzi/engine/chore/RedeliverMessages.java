package dev.kagzi.engine.chore;

import dev.kagzi.engine.db.Database;
import dev.kagzi.engine.message.Messages;
import dev.kagzi.engine.value.RunId;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Delivers messages whose announcement was lost with the server that wrote them. */
public final class RedeliverMessages implements Chore {
  static final long OLD_MS = 2_000;
  private static final int MAX = 500;

  private final ServerHeartbeat pulse;
  private final Database database;
  private final Consumer<RunId> deliver;
  private ServerHeartbeat.@Nullable Reading served;

  public RedeliverMessages(ServerHeartbeat pulse, Database database, Consumer<RunId> deliver) {
    this.pulse = pulse;
    this.database = database;
    this.deliver = deliver;
  }

  @Override
  public void run() {
    ServerHeartbeat.Reading reading = pulse.last();
    if (!reading.oldMessages() || reading.equals(served)) {
      return;
    }
    List<RunId> receivers = database.read(session -> Messages.forgotten(session, OLD_MS, MAX));
    receivers.forEach(deliver);
    if (receivers.isEmpty()) {
      served = reading;
    }
  }
}
