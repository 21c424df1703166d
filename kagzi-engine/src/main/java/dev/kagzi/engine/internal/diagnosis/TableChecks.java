package dev.kagzi.engine.internal.diagnosis;

import dev.kagzi.engine.diagnosis.Check;
import dev.kagzi.engine.diagnosis.Finding;
import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/** Checks dead rows and disk space. */
public final class TableChecks {
  private static final long DEAD_MIN = 50_000;
  private static final long DISK_FAIL_BYTES = 1L << 30;
  private static final long DISK_WARN_BYTES = 20L << 30;

  // Under load, dead rows appear at the rate of work. They are a problem only if nothing removes
  // them.
  private static final String DEAD_ROWS =
      """
      SELECT t.relname, t.n_dead_tup AS dead, t.n_live_tup AS live,
             greatest(t.last_vacuum, t.last_autovacuum)::text AS vacuumed
        FROM pg_stat_user_tables t
       WHERE t.schemaname = 'kagzi' AND t.n_dead_tup >= ? AND t.n_dead_tup > t.n_live_tup / 5
         AND coalesce(greatest(t.last_vacuum, t.last_autovacuum) < kagzi.clock()
                        - interval '10 minutes', true)
       ORDER BY t.n_dead_tup DESC
       LIMIT 5
      """;

  private static final String DISK =
      """
      SELECT pg_database_size(current_database()) AS bytes,
             coalesce(host(inet_server_addr()), '') AS address,
             (SELECT setting FROM pg_settings WHERE name = 'data_directory') AS directory
      """;

  private final Session session;

  public TableChecks(Session session) {
    this.session = session;
  }

  public Finding deadRows() throws SQLException {
    List<String> tables =
        session
            .query(DEAD_ROWS)
            .bind(DEAD_MIN)
            .list(
                row ->
                    "%s has %d dead and %d live rows, last vacuumed: %s"
                        .formatted(
                            row.text("relname"),
                            row.bigint("dead"),
                            row.bigint("live"),
                            row.textOrEmpty("vacuumed").isEmpty()
                                ? "never"
                                : row.text("vacuumed")));
    return tables.isEmpty()
        ? Finding.ok(Check.DEAD_ROWS, "no table has many dead rows")
        : Finding.warning(
            Check.DEAD_ROWS,
            String.join("; ", tables) + " (expected: fewer than a fifth of the live rows)",
            "see AUTOVACUUM, OPEN_TRANSACTIONS, PREPARED_TRANSACTIONS and REPLICATION_SLOTS; if"
                + " they are ok, run VACUUM on the table");
  }

  public Finding disk() throws SQLException {
    return session.query(DISK).first(TableChecks::disk).orElseThrow();
  }

  private static Finding disk(Row row) throws SQLException {
    String size = "the database has " + Units.bytes(row.bigint("bytes"));
    String directory = row.textOrEmpty("directory");
    if (directory.isEmpty()) {
      return Finding.ok(
          Check.DISK, size + "; free space is not known: the role may not read data_directory");
    }
    return disk(row.text("address"), Path.of(directory))
        .map(each -> each.finding(size))
        .orElse(
            Finding.ok(
                Check.DISK,
                size + "; free space is not known: this server does not see the database's disk"));
  }

  /** Returns the disk of the database if this process can see it. */
  private static Optional<Disk> disk(String address, Path directory) {
    boolean isLocal = address.isEmpty() || address.startsWith("127.") || address.equals("::1");
    if (!isLocal || !Files.isDirectory(directory)) {
      return Optional.empty();
    }
    try {
      var store = Files.getFileStore(directory);
      return Optional.of(new Disk(store.getUsableSpace(), store.getTotalSpace()));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  record Disk(long free, long total) {
    Finding finding(String size) {
      String found =
          "%s; of its disk, %s of %s are free"
              .formatted(size, Units.bytes(free), Units.bytes(total));
      if (free < DISK_FAIL_BYTES) {
        return Finding.failure(
            Check.DISK,
            found + " (expected: 1 GiB or more)",
            "PostgreSQL stops when the disk is full; free space now");
      }
      return free < DISK_WARN_BYTES && free < total / 10
          ? Finding.warning(
              Check.DISK,
              found + " (expected: a tenth of the disk, or 20 GiB, or more)",
              "free space, shorten retention-runs, or enlarge the disk")
          : Finding.ok(Check.DISK, found);
    }
  }
}
