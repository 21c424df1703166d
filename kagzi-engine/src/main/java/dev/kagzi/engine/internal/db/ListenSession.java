package dev.kagzi.engine.internal.db;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.postgresql.PGNotification;

/** A session with LISTEN on a channel. Not thread-safe, except for {@link #abort}. */
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

  public Session session() {
    return session;
  }

  /**
   * Waits at most {@code millisMax} for notifications. If none arrive it sends a statement: a
   * half-open connection would otherwise stay silent forever.
   */
  public List<String> await(int millisMax) throws SQLException {
    PGNotification[] received = session.driver().getNotifications(millisMax);
    if (received == null || received.length == 0) {
      session.query("SELECT 1").execute();
      return List.of();
    }
    List<String> payloads = new ArrayList<>(received.length);
    for (PGNotification notification : received) {
      payloads.add(notification.getParameter());
    }
    return payloads;
  }

  /** Ends {@link #await}, which another thread may be in, with an {@link SQLException}. */
  public void abort() {
    session.abort();
  }

  @Override
  public void close() {
    session.close();
  }
}
