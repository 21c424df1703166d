package dev.kagzi.engine.chore;

import dev.kagzi.engine.db.Database;
import dev.kagzi.engine.message.Messages;
import dev.kagzi.engine.value.RunId;
import java.util.function.Consumer;

/** Delivers messages whose announcement was lost with the server that wrote them. */
public final class DeliverForgottenMessages implements Chore {
  private static final long OLD_MS = 2_000;
  private static final int MAX = 500;

  private final Database database;
  private final Consumer<RunId> deliver;

  public DeliverForgottenMessages(Database database, Consumer<RunId> deliver) {
    this.database = database;
    this.deliver = deliver;
  }

  @Override
  public void run() {
    database.read(session -> Messages.forgotten(session, OLD_MS, MAX)).forEach(deliver);
  }
}
