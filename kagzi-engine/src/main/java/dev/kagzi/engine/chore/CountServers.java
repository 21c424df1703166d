package dev.kagzi.engine.chore;

import dev.kagzi.engine.db.Database;
import dev.kagzi.engine.notice.Notifier;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.UUID;

/** Says that this server is alive, and learns whether there are others to tell things to. */
public final class CountServers implements Chore {
  static final String BEAT_SQL =
      """
      INSERT INTO kagzi.servers (server_id, hostname, started_at, heartbeat_at)
      VALUES (?, ?, kagzi.clock(), kagzi.clock())
          ON CONFLICT (server_id) DO UPDATE SET heartbeat_at = excluded.heartbeat_at
      """;

  static final String COUNT_SQL =
      """
      SELECT count(*) AS others FROM kagzi.servers
       WHERE server_id <> ? AND heartbeat_at > kagzi.clock() - interval '30 seconds'
      """;

  static final String FORGET_SQL =
      "DELETE FROM kagzi.servers WHERE heartbeat_at < kagzi.clock() - interval '1 day'";

  private static final int BEAT_EVERY = 5;

  private final Database database;
  private final UUID serverId;
  private final Notifier notifier;
  private int ticks;

  public CountServers(Database database, UUID serverId, Notifier notifier) {
    this.database = database;
    this.serverId = serverId;
    this.notifier = notifier;
  }

  @Override
  public void run() {
    if (ticks++ % BEAT_EVERY == 0) {
      beat();
    }
  }

  /** Beats and counts. */
  public void beat() {
    long others =
        database.write(
            tx -> {
              tx.query(BEAT_SQL).bind(serverId).bind(hostname()).update();
              tx.query(FORGET_SQL).update();
              return tx.query(COUNT_SQL)
                  .bind(serverId)
                  .first(row -> row.bigint("others"))
                  .orElse(0L);
            });
    notifier.alone(others == 0);
  }

  /** This server goes: the others need not count it any longer. */
  public void leave() {
    database.write(
        tx -> tx.query("DELETE FROM kagzi.servers WHERE server_id = ?").bind(serverId).update());
  }

  private static String hostname() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException unnamed) {
      return "unknown";
    }
  }
}
