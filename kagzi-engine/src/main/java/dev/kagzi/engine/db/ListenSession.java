package dev.kagzi.engine.db;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.postgresql.PGNotification;

/** A session that listens on a channel. Not thread-safe. */
public final class ListenSession implements AutoCloseable {
  private final Session session;

  private ListenSession(Session session) {
    this.session = session;
  }

  public static ListenSession open(Database database, String channel) throws SQLException {
    Session session = database.open("listen");
    try {
      session.query("LISTEN " + channel).execute();
    } catch (SQLException e) {
      session.close();
      throw e;
    }
    return new ListenSession(session);
  }

  /** What it listens on. */
  public Session session() {
    return session;
  }

  /**
   * Waits for notifications, at most for so long. When none came the connection has to prove that
   * it is alive: a half-open one would otherwise be silent for ever.
   */
  public List<String> await(int millisMax) throws SQLException {
    PGNotification[] heard = session.driver().getNotifications(millisMax);
    if (heard == null || heard.length == 0) {
      session.query("SELECT 1").execute();
      return List.of();
    }
    List<String> payloads = new ArrayList<>(heard.length);
    for (PGNotification notification : heard) {
      payloads.add(notification.getParameter());
    }
    return payloads;
  }

  @Override
  public void close() {
    session.close();
  }
}
