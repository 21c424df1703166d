package dev.kagzi.engine.internal.diagnosis;

import dev.kagzi.engine.diagnosis.Check;
import dev.kagzi.engine.diagnosis.Finding;
import dev.kagzi.engine.internal.db.Session;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;

/** Checks the servers and their clocks. */
public final class ServerChecks {
  private static final long CLOCK_MS_MAX = 2_000;

  private static final String CLOCK =
      "SELECT (extract(epoch FROM kagzi.clock()) * 1000000)::bigint AS us";

  private static final String ALIVE =
      """
      SELECT hostname
        FROM kagzi.servers
       WHERE heartbeat_at > kagzi.clock() - interval '30 seconds'
       ORDER BY hostname
       LIMIT 100
      """;

  private final Session session;

  public ServerChecks(Session session) {
    this.session = session;
  }

  public Finding alive() throws SQLException {
    List<String> hosts = session.query(ALIVE).list(row -> row.text("hostname"));
    return hosts.isEmpty()
        ? Finding.failure(
            Check.SERVERS,
            "no server stored a heartbeat in the last 30 s (expected: this one)",
            "the chores of this server do not run: see its log, and restart it")
        : Finding.ok(
            Check.SERVERS, "%d alive: %s".formatted(hosts.size(), String.join(", ", hosts)));
  }

  /** The statement takes time, so its result is compared with the middle of that time. */
  public Finding clock(InstantSource serverClock) throws SQLException {
    Instant before = serverClock.instant();
    long micros = session.query(CLOCK).first(row -> row.bigint("us")).orElseThrow();
    Instant middle = before.plus(Duration.between(before, serverClock.instant()).dividedBy(2));
    Instant database = Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    long ahead = Duration.between(middle, database).toMillis();
    String apart = Units.time(Math.abs(ahead));
    return Math.abs(ahead) <= CLOCK_MS_MAX
        ? Finding.ok(Check.CLOCK, "the clocks of the database and this server differ by " + apart)
        : Finding.warning(
            Check.CLOCK,
            "the database's clock is %s %s the server's (expected: at most %s)"
                .formatted(apart, ahead < 0 ? "behind" : "ahead of", Units.time(CLOCK_MS_MAX)),
            "Kagzi uses the database's clock: schedules fire by it, and times in logs differ from"
                + " those of runs; synchronize both by NTP");
  }
}
