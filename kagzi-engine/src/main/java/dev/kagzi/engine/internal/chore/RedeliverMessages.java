package dev.kagzi.engine.internal.chore;

import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.message.Messages;
import dev.kagzi.engine.value.RunId;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Delivers messages between runs ({@code run_messages}) that were committed, but whose delivery was
 * lost, for example because their server died.
 */
public final class RedeliverMessages implements Chore {
  static final long OLD_MS = 2_000;
  private static final int MAX = 500;

  private final ServerHeartbeat heartbeat;
  private final Database database;
  private final Consumer<RunId> deliver;
  private ServerHeartbeat.@Nullable PendingWork served;

  public RedeliverMessages(ServerHeartbeat heartbeat, Database database, Consumer<RunId> deliver) {
    this.heartbeat = heartbeat;
    this.database = database;
    this.deliver = deliver;
  }

  @Override
  public void run() {
    ServerHeartbeat.PendingWork pending = heartbeat.pendingWork();
    if (!pending.oldMessages() || pending.equals(served)) {
      return;
    }
    List<RunId> receivers =
        database.read(session -> Messages.receiversOfOldMessages(session, OLD_MS, MAX));
    receivers.forEach(deliver);
    if (receivers.isEmpty()) {
      served = pending;
    }
  }
}
