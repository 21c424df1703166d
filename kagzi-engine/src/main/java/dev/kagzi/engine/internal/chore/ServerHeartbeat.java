package dev.kagzi.engine.internal.chore;

import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.notification.Notifier;
import dev.kagzi.engine.value.UnreachableServerException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Stores that this server is alive. The same statement reads whether the other chores have work, so
 * that an idle server costs almost nothing.
 */
public final class ServerHeartbeat implements Chore {
  public static final String SQL =
      """
      WITH beat AS (
        INSERT INTO kagzi.servers (server_id, hostname, started_at, heartbeat_at)
        VALUES (?, ?, kagzi.clock(), kagzi.clock())
            ON CONFLICT (server_id) DO UPDATE SET heartbeat_at = excluded.heartbeat_at),
      purged AS (
        DELETE FROM kagzi.servers WHERE heartbeat_at < kagzi.clock() - interval '1 day')
      SELECT (SELECT count(*) FROM kagzi.servers
               WHERE server_id <> ? AND heartbeat_at > kagzi.clock() - interval '30 seconds')
               AS others,
             (SELECT (extract(epoch FROM kagzi.clock() - min(last_heartbeat_at)) * 1000)::bigint
                FROM kagzi.workers
               WHERE status <> 'OFFLINE') AS silent_ms,
             EXISTS (SELECT 1 FROM kagzi.run_messages
                      WHERE created_at < kagzi.clock() - ? * interval '1 millisecond')
               AS old_messages,
             ceil(extract(epoch FROM least(
               (SELECT min(deadline_at) FROM kagzi.workflow_runs
                 WHERE deadline_at IS NOT NULL AND available_at IS NOT NULL
                   AND cron_expr IS NULL),
               (SELECT min(timeout_at) FROM kagzi.step_runs
                 WHERE timeout_at IS NOT NULL AND status = 'RUNNING')
                 + ? * interval '1 millisecond') - kagzi.clock()) * 1000)::bigint AS overdue_in_ms,
             (SELECT ceil(extract(epoch FROM min(available_at) - kagzi.clock()) * 1000)::bigint
                FROM kagzi.workflow_runs
               WHERE cron_expr IS NOT NULL AND status = 'SCHEDULED' AND available_at < 'infinity')
               AS schedules_in_ms,
             EXISTS (SELECT 1 FROM kagzi.workflow_runs
                      WHERE cron_expr IS NOT NULL AND buffered_at IS NOT NULL) AS buffered,
             EXISTS (SELECT 1 FROM kagzi.run_changes)
               OR EXISTS (SELECT 1 FROM kagzi.schedule_changes) AS unfolded,
             EXISTS (SELECT 1 FROM kagzi.start_requests WHERE refused_at IS NULL)
               OR EXISTS (SELECT 1 FROM kagzi.signal_requests WHERE refused_at IS NULL) AS requests,
             (SELECT locked_by FROM kagzi.workflow_runs
               WHERE locked_by IS NOT NULL AND heartbeat_timeout_ms IS NOT NULL
                 AND available_at IS NOT NULL AND cron_expr IS NULL
               ORDER BY locked_by LIMIT 1) IS NOT NULL AS own_leases,
             (SELECT (extract(epoch FROM max(updated_at)) * 1000000)::bigint
                FROM kagzi.namespaces) AS namespaces_us,
             (SELECT (extract(epoch FROM max(updated_at)) * 1000000)::bigint
                FROM kagzi.workflow_types) AS types_us
      """;

  private static final String ALIVE_SQL =
      """
      SELECT server_id, heartbeat_at::text AS heartbeat
        FROM kagzi.servers
       WHERE server_id <> ? AND heartbeat_at > kagzi.clock() - interval '30 seconds'
       LIMIT 100
      """;

  // A server that is stopped deletes its row. The row of a killed server is deleted after a day, by
  // the next heartbeat of any other server. So if the table is empty, all servers were stopped
  // cleanly or none has run yet, and a day (86400 s) is returned.
  private static final String SILENT_SQL =
      """
      SELECT coalesce(extract(epoch FROM kagzi.clock() - nullif(max(heartbeat_at), 'infinity')),
                      86400)::bigint * 1000 AS silent_ms
        FROM kagzi.servers
      """;

  private static final String DELETE_SQL =
      "DELETE FROM kagzi.servers WHERE server_id = ANY (?::uuid[])";

  /** A server whose last heartbeat is older is not alive. */
  static final long ALIVE_MS = 30_000;

  private static final int EVERY = 5;
  private static final long PAUSE_MS = 100;
  private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long ALONE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final Database database;
  private final UUID serverId;
  private final Notifier notifier;
  private final long stepGraceMs;
  private volatile PendingWork pendingWork =
      new PendingWork(
          null, false, null, null, false, false, false, false, null, null, System.nanoTime());
  private volatile int servers = 1;
  private volatile long notAloneNanos = System.nanoTime();
  private int ticks;

  /**
   * The work that the other chores have, as the last heartbeat read it.
   *
   * @param silentMs age of the oldest heartbeat of a worker that is not offline; null if there is
   *     none
   * @param oldMessages whether messages that should have been delivered still wait
   * @param overdueInMs milliseconds until this server must end the next run or step attempt because
   *     of its timeout; null if none has a timeout
   * @param schedulesInMs milliseconds until the next schedule is due; null if there is none
   * @param buffered whether a buffered slot of a schedule waits for the end of a run
   * @param unfolded whether {@code run_changes} or {@code schedule_changes} has rows
   * @param requests whether starts or signals that applications requested wait
   * @param ownLeases whether a worker holds a run with a lease of its own
   * @param namespacesUs when a namespace was last changed
   * @param typesUs when a default version was last changed
   * @param atNanos when it was read
   */
  record PendingWork(
      @Nullable Long silentMs,
      boolean oldMessages,
      @Nullable Long overdueInMs,
      @Nullable Long schedulesInMs,
      boolean buffered,
      boolean unfolded,
      boolean requests,
      boolean ownLeases,
      @Nullable Long namespacesUs,
      @Nullable Long typesUs,
      long atNanos) {}

  /** {@code stepGraceMs}: how long a worker may take to report the timeout of a step. */
  public ServerHeartbeat(Database database, UUID serverId, Notifier notifier, long stepGraceMs) {
    this.database = database;
    this.stepGraceMs = stepGraceMs;
    this.serverId = serverId;
    this.notifier = notifier;
  }

  @Override
  public void run() {
    if (ticks % EVERY == 0) {
      send();
    }
    ticks++;
  }

  /** Returns how long ago the last server sent its last heartbeat; a day if there is none. */
  static long silentMs(Session session) throws SQLException {
    return session.query(SILENT_SQL).first(row -> row.bigint("silent_ms")).orElseThrow();
  }

  /** Returns how many servers the last heartbeat found alive, this one included. */
  public int servers() {
    return servers;
  }

  /**
   * Returns whether this server has been the only live one for some seconds. The fallbacks have
   * then found what the last messages of another server announced, if these were lost.
   */
  public boolean isAlone() {
    return servers == 1 && System.nanoTime() - notAloneNanos > ALONE_NANOS;
  }

  public long namespacesChangedUs() {
    return Objects.requireNonNullElse(pendingWork.namespacesUs, 0L);
  }

  public long typesChangedUs() {
    return Objects.requireNonNullElse(pendingWork.typesUs, 0L);
  }

  PendingWork pendingWork() {
    return pendingWork;
  }

  public void send() {
    long atNanos = System.nanoTime();
    long others =
        database
            .read(
                session ->
                    session
                        .query(SQL)
                        .bind(serverId)
                        .bind(hostname())
                        .bind(serverId)
                        .bind(RedeliverMessages.OLD_MS)
                        .bind(stepGraceMs)
                        .first(
                            row -> {
                              pendingWork =
                                  new PendingWork(
                                      row.bigintOrNull("silent_ms"),
                                      row.bool("old_messages"),
                                      row.bigintOrNull("overdue_in_ms"),
                                      row.bigintOrNull("schedules_in_ms"),
                                      row.bool("buffered"),
                                      row.bool("unfolded"),
                                      row.bool("requests"),
                                      row.bool("own_leases"),
                                      row.bigintOrNull("namespaces_us"),
                                      row.bigintOrNull("types_us"),
                                      atNanos);
                              return row.bigint("others");
                            }))
            .orElse(0L);
    notifier.setOtherServers(others, atNanos);
    servers = (int) others + 1;
    if (others > 0) {
      notAloneNanos = atNanos;
    }
  }

  /**
   * Checks that the notifier reaches every live server. The row of a killed server looks alive for
   * a while. So this method watches the rows of unreachable servers for two heartbeats, and deletes
   * them if their heartbeats do not change.
   *
   * @throws UnreachableServerException if the notifier does not reach a live server
   */
  public void checkReachable(Duration interval) {
    long giveUp = System.nanoTime() + interval.multipliedBy(2L * EVERY).toNanos() + GRACE_NANOS;
    Map<UUID, String> first = unreachableServers();
    Map<UUID, String> present = first;
    while (!present.isEmpty() && System.nanoTime() - giveUp < 0) {
      if (!first.entrySet().containsAll(present.entrySet())) {
        throw new UnreachableServerException(
            "notifier: in-process (expected: postgres, since another server works on this database;"
                + " or stop that one: "
                + String.join(", ", present.keySet().stream().map(UUID::toString).toList())
                + ")");
      }
      pause();
      present = unreachableServers();
    }
    if (!present.isEmpty()) {
      delete(first.keySet());
    }
  }

  private Map<UUID, String> unreachableServers() {
    Map<UUID, String> found = new HashMap<>();
    database.read(
        session ->
            session
                .query(ALIVE_SQL)
                .bind(serverId)
                .list(row -> found.put(row.uuid("server_id"), row.text("heartbeat"))));
    found.keySet().removeIf(notifier::reaches);
    return found;
  }

  private static void pause() {
    try {
      TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while starting", stopped);
    }
  }

  /** Deletes the row of this server, so that the others no longer count it. */
  public void deregister() {
    delete(List.of(serverId));
  }

  private void delete(Collection<UUID> servers) {
    database.write(tx -> tx.query(DELETE_SQL).bindUuids(servers, id -> id).update());
  }

  private static String hostname() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException unnamed) {
      return "unknown";
    }
  }
}
