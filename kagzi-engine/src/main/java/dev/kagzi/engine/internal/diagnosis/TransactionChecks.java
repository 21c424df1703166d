package dev.kagzi.engine.internal.diagnosis;

import dev.kagzi.engine.diagnosis.Check;
import dev.kagzi.engine.diagnosis.Finding;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.value.CountText;
import java.sql.SQLException;
import java.util.Optional;

/** Finds what keeps PostgreSQL from removing dead rows and old WAL files. */
public final class TransactionChecks {
  private static final long WARN_MS = 5 * 60_000;
  private static final long FAIL_MS = 60 * 60_000;
  private static final long STATEMENT_MS = 60_000;
  private static final long WAL_WARN_BYTES = 256L << 20;
  private static final long WAL_FAIL_BYTES = 10L << 30;
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

  private static final String LONG_STATEMENTS =
      """
      SELECT a.pid, coalesce(a.usename, '') AS role, coalesce(a.application_name, '') AS program,
             left(a.query, 80) AS state,
             (extract(epoch FROM kagzi.clock() - a.query_start) * 1000)::bigint AS age_ms
        FROM pg_stat_activity a
       WHERE a.datname = current_database() AND a.state = 'active'
         AND a.backend_type = 'client backend' AND a.pid <> pg_backend_pid()
       ORDER BY a.query_start
       LIMIT 1
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
      SELECT r.slot_name, coalesce(r.wal_status, '') AS wal_status,
             coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), r.restart_lsn), 0)::bigint AS kept
        FROM pg_replication_slots r
       WHERE NOT r.active
       ORDER BY kept DESC, r.slot_name
       LIMIT 1
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

  public Finding openTransactions() throws SQLException {
    Optional<Backend> oldest = oldest(OPEN_TRANSACTIONS).filter(each -> each.ageMs >= WARN_MS);
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
        .orElse(
            Finding.ok(
                Check.OPEN_TRANSACTIONS,
                "no transaction is open for more than " + Units.time(WARN_MS)));
  }

  private static Finding byAge(long ageMs, Check check, String message, String advice) {
    return ageMs >= FAIL_MS
        ? Finding.failure(check, message, advice)
        : Finding.warning(check, message, advice);
  }

  public Finding longStatements() throws SQLException {
    Optional<Backend> oldest = oldest(LONG_STATEMENTS).filter(each -> each.ageMs >= STATEMENT_MS);
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
        .orElse(
            Finding.ok(
                Check.LONG_STATEMENTS,
                "no statement takes longer than " + Units.time(STATEMENT_MS)));
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
    return session
        .query(REPLICATION_SLOTS)
        .first(row -> slot(row.text("slot_name"), row.text("wal_status"), row.bigint("kept")))
        .orElse(Finding.ok(Check.REPLICATION_SLOTS, "no replication slot is without a receiver"));
  }

  private static Finding slot(String name, String walStatus, long kept) {
    String found =
        "replication slot %s has no receiver and keeps %s of WAL"
            .formatted(name, Units.bytes(kept));
    if (kept < WAL_WARN_BYTES && !walStatus.equals("lost")) {
      return Finding.ok(Check.REPLICATION_SLOTS, found);
    }
    String message = found + " (expected: a receiver, or less than 256 MiB)";
    String advice =
        "the WAL fills the disk, and the slot may keep dead rows; start its receiver, or drop it"
            + " with SELECT pg_drop_replication_slot('"
            + name
            + "')";
    return kept >= WAL_FAIL_BYTES
        ? Finding.failure(Check.REPLICATION_SLOTS, message, advice)
        : Finding.warning(Check.REPLICATION_SLOTS, message, advice);
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
