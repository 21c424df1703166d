package dev.kagzi.engine.internal.diagnosis;

import dev.kagzi.engine.diagnosis.Check;
import dev.kagzi.engine.diagnosis.Finding;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.value.CountText;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Checks the version and the settings of PostgreSQL that durability and speed depend on. */
public final class SettingChecks {
  private static final int MAJOR_MIN = 14;
  private static final int MAJOR_TESTED = 18;
  private static final int CONNECTIONS_FREE_MIN = 10;

  // pg_settings omits what the role may not read; current_setting would fail.
  private static final String SETTINGS =
      """
      SELECT name, setting
        FROM pg_settings
       WHERE name IN ('server_version', 'server_version_num', 'fsync', 'full_page_writes',
                      'synchronous_commit', 'autovacuum', 'track_counts', 'max_connections',
                      'superuser_reserved_connections', 'reserved_connections')
      """;

  private static final String TABLES_WITHOUT_AUTOVACUUM =
      """
      SELECT c.relname
        FROM pg_class c
        JOIN pg_namespace s ON s.oid = c.relnamespace
       WHERE s.nspname = 'kagzi' AND c.relkind = 'r'
         AND EXISTS (SELECT 1 FROM unnest(c.reloptions) AS o (option)
                      WHERE o.option IN ('autovacuum_enabled=false', 'autovacuum_enabled=off'))
       ORDER BY c.relname
      """;

  // Every role may read pg_stat_database; names of other roles' applications are hidden.
  private static final String CONNECTIONS =
      """
      SELECT (SELECT coalesce(sum(numbackends), 0)::int FROM pg_stat_database) AS used,
             (SELECT count(*)::int FROM pg_stat_activity
               WHERE application_name LIKE 'kagzi%' AND datname = current_database()) AS own,
             (SELECT count(*)::int FROM kagzi.servers
               WHERE heartbeat_at > kagzi.clock() - interval '30 seconds') AS servers
      """;

  private final Session session;
  private final Map<String, String> settings = new HashMap<>();

  public SettingChecks(Session session) throws SQLException {
    this.session = session;
    session.query(SETTINGS).list(row -> settings.put(row.text("name"), row.textOrEmpty("setting")));
  }

  private String setting(String name) {
    return settings.getOrDefault(name, "");
  }

  private int number(String name) {
    String value = setting(name);
    return value.isEmpty() ? 0 : Integer.parseInt(value);
  }

  public Finding version() {
    int major = number("server_version_num") / 10_000;
    String found = "PostgreSQL " + setting("server_version");
    if (major < MAJOR_MIN) {
      return Finding.failure(
          Check.POSTGRES_VERSION,
          found + " (expected: 14 or newer)",
          "upgrade PostgreSQL; servers of this version do not start on it");
    }
    return major > MAJOR_TESTED
        ? Finding.warning(
            Check.POSTGRES_VERSION,
            found + " (expected: 14 to 18, which Kagzi is tested with)",
            "look for a newer version of Kagzi")
        : Finding.ok(Check.POSTGRES_VERSION, found);
  }

  public Finding fsync() {
    return onOrFailure(
        Check.FSYNC, "fsync", "a crash of the machine loses or corrupts what was acknowledged");
  }

  public Finding fullPageWrites() {
    return onOrFailure(
        Check.FULL_PAGE_WRITES,
        "full_page_writes",
        "a crash of the machine can leave half-written pages, which nothing repairs");
  }

  private Finding onOrFailure(Check check, String name, String danger) {
    String value = setting(name);
    return value.equals("on")
        ? Finding.ok(check, name + " is on")
        : Finding.failure(
            check,
            name + ": " + value + " (expected: on)",
            danger + "; set " + name + " = on in postgresql.conf and reload");
  }

  /**
   * Sessions outside of the connection pool set it themselves, such as those of the journal. Pooled
   * sessions have the database's value.
   */
  public Finding synchronousCommit() {
    String value = setting("synchronous_commit");
    return value.equals("off")
        ? Finding.warning(
            Check.SYNCHRONOUS_COMMIT,
            "synchronous_commit: off (expected: on)",
            "a crash can lose registrations, triggered and back-filled runs, and changes of"
                + " namespaces and schedules that were acknowledged; set synchronous_commit = on")
        : Finding.ok(Check.SYNCHRONOUS_COMMIT, "synchronous_commit is " + value);
  }

  public Finding autovacuum() throws SQLException {
    for (String name : List.of("autovacuum", "track_counts")) {
      if (!setting(name).equals("on")) {
        return Finding.failure(
            Check.AUTOVACUUM,
            name + ": " + setting(name) + " (expected: on)",
            "dead rows are not removed, and every statement becomes slower; set "
                + name
                + " = on in postgresql.conf and reload");
      }
    }
    List<String> tables = session.query(TABLES_WITHOUT_AUTOVACUUM).list(row -> row.text("relname"));
    return tables.isEmpty()
        ? Finding.ok(Check.AUTOVACUUM, "autovacuum is on, for all tables")
        : Finding.failure(
            Check.AUTOVACUUM,
            "autovacuum_enabled: false for %s (expected: true)"
                .formatted(String.join(", ", tables)),
            "ALTER TABLE kagzi.%s RESET (autovacuum_enabled)".formatted(tables.get(0)));
  }

  /** One more server must find free connections. */
  public Finding connections() throws SQLException {
    int usable =
        number("max_connections")
            - number("superuser_reserved_connections")
            - number("reserved_connections");
    return session
        .query(CONNECTIONS)
        .first(
            row ->
                connections(
                    usable, row.integer("used"), row.integer("own"), row.integer("servers")))
        .orElseThrow();
  }

  private static Finding connections(int usable, int used, int own, int servers) {
    int free = Math.max(0, usable - used);
    int needed = Math.max(CONNECTIONS_FREE_MIN, servers == 0 ? own : own / servers);
    String found =
        "%d of %d connections in use, %d of them by %s"
            .formatted(used, usable, own, CountText.of(servers, "Kagzi server"));
    return free >= needed
        ? Finding.ok(Check.CONNECTIONS, found)
        : Finding.warning(
            Check.CONNECTIONS,
            "%s, %d free (expected: %d free, as one more server uses)"
                .formatted(found, free, needed),
            "raise max_connections, lower db-pool-size, or close connections of other programs");
  }
}
