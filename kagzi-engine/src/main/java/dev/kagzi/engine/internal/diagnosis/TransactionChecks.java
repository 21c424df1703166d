package dev.kagzi.engine.internal.diagnosis;

import dev.kagzi.engine.diagnosis.Check;
import dev.kagzi.engine.diagnosis.Finding;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.value.CountText;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Finds what keeps PostgreSQL from removing dead rows and old WAL files. */
public final class TransactionChecks {
  private static final long WARN_MS = 5 * 60_000;
  private static final long FAIL_MS = 60 * 60_000;
  private static final long STATEMENT_MS = 60_000;
  private static final long WAL_WARN_BYTES = 256L << 20;
  private static final long WAL_FAIL_BYTES = 10L << 30;
  private static final long XMIN_WARN = 10_000_000L;
  private static final long XID_WARN = 1_000_000_000L;
  private static final long XID_FAIL = 1_800_000_000L;

  // Only transactions of the same database keep its dead rows.
  private static final String OPEN_TRANSACTIONS =
      """
      SELECT a.pid, coalesce(a.usename, '') AS role, coalesce(a.application_name, '') AS program,
             coalesce(a.state, '') AS state,
             (extract(epoch FROM kagzi.clock() - a.xact_start) * 1000)::bigint AS age_ms
        FROM pg_stat_activity a
       WHERE a.datname = current_database() AND a.xact_start IS NOT NULL
         AND a.backend_type = 'client backend' AND a.pid <> pg_backend_pid()
       ORDER BY a.xact_start
       LIMIT 1
      """;

  // Only the first word: a statement of another program may contain its data.
  private static final String LONG_STATEMENTS =
      """
      SELECT a.pid, coalesce(a.usename, '') AS role, coalesce(a.application_name, '') AS program,
             coalesce(upper(substring(a.query FROM '^\\s*([A-Za-z]{1,20})')), 'active') AS state,
             (extract(epoch FROM kagzi.clock() - a.query_start) * 1000)::bigint AS age_ms
        FROM pg_stat_activity a
       WHERE a.datname = current_database() AND a.state = 'active'
         AND a.backend_type = 'client backend' AND a.pid <> pg_backend_pid()
       ORDER BY a.query_start
       LIMIT 1
      """;

  // Sessions that the server's role may not see: PostgreSQL lists them without their times.
  // PostgreSQL's own processes, such as autovacuum, have no role and are not counted.
  private static final String HIDDEN =
      """
      SELECT count(*)::int AS hidden
        FROM pg_stat_activity a
       WHERE a.datname = current_database() AND a.usesysid IS NOT NULL
         AND a.query = '<insufficient privilege>'
      """;

  private static final String PREPARED_TRANSACTIONS =
      """
      SELECT p.gid, count(*) OVER () AS transactions,
             (extract(epoch FROM kagzi.clock() - p.prepared) * 1000)::bigint AS age_ms
        FROM pg_prepared_xacts p
       WHERE p.database = current_database()
       ORDER BY p.prepared
       LIMIT 1
      """;

  private static final String REPLICATION_SLOTS =
      """
      SELECT r.slot_name, r.active, coalesce(r.wal_status, '') = 'lost' AS lost,
             coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), r.restart_lsn), 0)::bigint AS kept,
             coalesce(age(r.xmin), 0)::bigint AS xmin_age
        FROM pg_replication_slots r
       ORDER BY r.slot_name
      """;

  private static final String TRANSACTION_IDS =
      """
      SELECT greatest(age(d.datfrozenxid), mxid_age(d.datminmxid))::bigint AS age
        FROM pg_database d
       WHERE d.datname = current_database()
      """;

  private final Session session;

  public TransactionChecks(Session session) {
    this.session = session;
  }

  private record Backend(int pid, String role, String program, String state, long ageMs) {
    @Override
    public String toString() {
      return "pid %d (role %s, program %s, %s)"
          .formatted(pid, role, program.isEmpty() ? "unknown" : program, state);
    }
  }

  private Optional<Backend> oldest(String sql) throws SQLException {
    return session
        .query(sql)
        .first(
            row ->
                new Backend(
                    row.integer("pid"),
                    row.text("role"),
                    row.text("program"),
                    row.text("state"),
                    row.bigint("age_ms")));
  }

  private Finding noneFound(Check check, String message) throws SQLException {
    int hidden = session.query(HIDDEN).first(row -> row.integer("hidden")).orElse(0);
    return hidden == 0
        ? Finding.ok(check, message)
        : Finding.warning(
            check,
            "could not be checked: %d sessions of other roles are hidden from the role of the server; of those that it sees, %s"
                .formatted(hidden, message),
            "grant pg_read_all_stats to the role of the server, or make this check yourself");
  }

  public Finding openTransactions() throws SQLException {
    Optional<Backend> oldest = oldest(OPEN_TRANSACTIONS).filter(each -> each.ageMs >= WARN_MS);
    if (oldest.isEmpty()) {
      return noneFound(
          Check.OPEN_TRANSACTIONS, "no transaction is open for more than " + Units.time(WARN_MS));
    }
    return oldest
        .map(
            each ->
                byAge(
                    each.ageMs,
                    Check.OPEN_TRANSACTIONS,
                    "a transaction is open for %s: %s (expected: less than %s)"
                        .formatted(Units.time(each.ageMs), each, Units.time(WARN_MS)),
                    "dead rows cannot be removed while it is open; end it, if need be with"
                        + " SELECT pg_terminate_backend("
                        + each.pid
                        + "), and set idle_in_transaction_session_timeout for its role"))
        .orElseThrow();
  }

  private static Finding byAge(long ageMs, Check check, String message, String advice) {
    return ageMs >= FAIL_MS
        ? Finding.failure(check, message, advice)
        : Finding.warning(check, message, advice);
  }

  public Finding longStatements() throws SQLException {
    Optional<Backend> oldest = oldest(LONG_STATEMENTS).filter(each -> each.ageMs >= STATEMENT_MS);
    if (oldest.isEmpty()) {
      return noneFound(
          Check.LONG_STATEMENTS, "no statement takes longer than " + Units.time(STATEMENT_MS));
    }
    return oldest
        .map(
            each ->
                Finding.warning(
                    Check.LONG_STATEMENTS,
                    "a statement takes %s so far: %s (expected: less than %s)"
                        .formatted(Units.time(each.ageMs), each, Units.time(STATEMENT_MS)),
                    "it may hold locks that Kagzi waits for; end it, if need be with"
                        + " SELECT pg_cancel_backend("
                        + each.pid
                        + ")"))
        .orElseThrow();
  }

  public Finding preparedTransactions() throws SQLException {
    return session
        .query(PREPARED_TRANSACTIONS)
        .first(row -> prepared(row.text("gid"), row.bigint("transactions"), row.bigint("age_ms")))
        .orElse(Finding.ok(Check.PREPARED_TRANSACTIONS, "there are no prepared transactions"));
  }

  private static Finding prepared(String gid, long transactions, long ageMs) {
    String found =
        "%s, the oldest (%s) for %s"
            .formatted(
                CountText.of(transactions, "prepared transaction"),
                gid,
                Units.time(Math.max(0, ageMs)));
    return ageMs < WARN_MS
        ? Finding.ok(Check.PREPARED_TRANSACTIONS, found)
        : byAge(
            ageMs,
            Check.PREPARED_TRANSACTIONS,
            "%s (expected: less than %s)".formatted(found, Units.time(WARN_MS)),
            "dead rows cannot be removed while it exists; its owner commits it, or end it with"
                + " ROLLBACK PREPARED '"
                + gid.replace("'", "''")
                + "'");
  }

  public Finding replicationSlots() throws SQLException {
    return replicationSlots(
        session
            .query(REPLICATION_SLOTS)
            .list(
                row ->
                    new Slot(
                        row.text("slot_name"),
                        row.bool("active"),
                        row.bool("lost"),
                        row.bigint("kept"),
                        row.bigint("xmin_age"))));
  }

  /** Returns the worst finding; of equal ones, that of the slot that keeps the most WAL. */
  static Finding replicationSlots(List<Slot> slots) {
    return slots.stream()
        .sorted(Comparator.comparingLong(Slot::kept).reversed())
        .map(Slot::finding)
        .max(Comparator.comparing(Finding::status))
        .orElse(Finding.ok(Check.REPLICATION_SLOTS, "there are no replication slots"));
  }

  /**
   * A replication slot.
   *
   * @param lost PostgreSQL has removed WAL that its receiver needs
   * @param kept bytes of WAL that it keeps
   * @param xminAge how many transactions old the dead rows are that it keeps; zero if it keeps none
   */
  record Slot(String name, boolean active, boolean lost, long kept, long xminAge) {
    Finding finding() {
      if (lost) {
        return Finding.warning(
            Check.REPLICATION_SLOTS,
            "replication slot %s is lost: WAL that its receiver needs was removed (expected: none)"
                .formatted(name),
            drop() + ", and set its receiver up again");
      }
      if (xminAge >= XMIN_WARN && (active || kept < WAL_FAIL_BYTES)) {
        return Finding.warning(
            Check.REPLICATION_SLOTS,
            "replication slot %s keeps the dead rows of the last %d transactions (expected: fewer than %d)"
                .formatted(name, xminAge, XMIN_WARN),
            "dead rows cannot be removed: end old transactions of its receiver, or " + drop());
      }
      String found =
          "replication slot %s has %s and keeps %s of WAL"
              .formatted(name, active ? "a receiver" : "no receiver", Units.bytes(kept));
      if (active || kept < WAL_WARN_BYTES) {
        return Finding.ok(Check.REPLICATION_SLOTS, found);
      }
      String message = found + " (expected: a receiver, or less than 256 MiB)";
      String advice = "the WAL fills the disk; start its receiver, or " + drop();
      return kept >= WAL_FAIL_BYTES
          ? Finding.failure(Check.REPLICATION_SLOTS, message, advice)
          : Finding.warning(Check.REPLICATION_SLOTS, message, advice);
    }

    private String drop() {
      return "drop it with SELECT pg_drop_replication_slot('" + name + "')";
    }
  }

  public Finding transactionIds() throws SQLException {
    long age = session.query(TRANSACTION_IDS).first(row -> row.bigint("age")).orElse(0L);
    return transactionIds(age);
  }

  static Finding transactionIds(long age) {
    String found =
        "the oldest transaction id is %s old".formatted(CountText.of(age, "transaction"));
    if (age < XID_WARN) {
      return Finding.ok(Check.TRANSACTION_IDS, found);
    }
    String message = found + " (expected: less than 1000000000; at 2100000000 writes stop)";
    String advice =
        "vacuum does not keep up: end old transactions, prepared transactions and replication"
            + " slots, then run VACUUM FREEZE";
    return age >= XID_FAIL
        ? Finding.failure(Check.TRANSACTION_IDS, message, advice)
        : Finding.warning(Check.TRANSACTION_IDS, message, advice);
  }
}
