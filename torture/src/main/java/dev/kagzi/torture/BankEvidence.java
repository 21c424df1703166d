package dev.kagzi.torture;

import dev.kagzi.torture.BankTellers.Outcome;
import dev.kagzi.torture.BankTransfer.Leg;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The input of the checker: what the tellers know, and the tables of both databases after the last
 * run has ended.
 *
 * @param outcomes the outcome of each order's transaction, by the number of the transfer
 * @param approvals the number of the transfer of each approval
 * @param accounts the amount of each account
 * @param leftovers starts and signals that were written and not executed
 */
record BankEvidence(
    Map<Integer, Outcome> outcomes,
    List<BankTransfer> orders,
    List<Integer> approvals,
    Map<Integer, Long> accounts,
    List<Movement> movements,
    List<Run> runs,
    List<StoredResult> results,
    List<String> leftovers) {

  /** A change of an account; each execution of a step writes another token. */
  record Movement(int number, Leg leg, int account, int amount, String token) {}

  /**
   * @param number the number of the transfer, from the external id of the run
   * @param output the tokens that the run's code returned; empty if the run has no output
   * @param signals how many signals are stored for the run
   */
  record Run(int number, String runId, String status, String output, int signals) {}

  /** A row of {@code kagzi_steps}. */
  record StoredResult(String runId, Leg leg, boolean hasOutput) {}

  private static final String RUNS_SQL =
      """
      SELECT substr(r.external_id, 10)::int AS number, r.run_id, r.status,
             coalesce(convert_from(o.data, 'UTF8'), '') AS output,
             (SELECT count(*) FROM kagzi.run_signals AS s WHERE s.run_id = r.run_id) AS signals
        FROM kagzi.workflow_runs AS r
        LEFT JOIN kagzi.workflow_payloads AS o ON o.run_id = r.run_id AND o.kind = 'OUTPUT'
       WHERE r.workflow_type = 'bank-transfer'
      """;

  private static final String KAGZI_LEFTOVERS_SQL =
      """
      SELECT 'start request of ' || external_id || ': ' || coalesce(refusal, 'open') AS leftover
        FROM kagzi.start_requests
       UNION ALL
      SELECT 'signal request of run ' || run_id || ': ' || coalesce(refusal, 'open')
        FROM kagzi.signal_requests
      """;

  private static final String BANK_LEFTOVERS_SQL =
      """
      SELECT kind || ' in the outbox, of ' || order_key || ': ' || coalesce(refusal, 'not sent')
             AS leftover
        FROM kagzi_outbox
      """;

  static BankEvidence read(Map<Integer, Outcome> outcomes, Connection bank, Connection kagzi)
      throws SQLException {
    List<BankTransfer> orders = orders(bank);
    orders.addAll(orders(kagzi));
    List<Integer> approvals = approvals(bank);
    approvals.addAll(approvals(kagzi));
    List<String> leftovers = leftovers(bank, BANK_LEFTOVERS_SQL);
    leftovers.addAll(leftovers(kagzi, KAGZI_LEFTOVERS_SQL));
    return new BankEvidence(
        outcomes,
        orders,
        approvals,
        accounts(bank),
        movements(bank),
        runs(kagzi),
        results(bank),
        leftovers);
  }

  /** Whether every written start and signal was executed, and every run has ended. */
  static boolean isOver(Connection bank, Connection kagzi) throws SQLException {
    return leftovers(bank, BANK_LEFTOVERS_SQL).isEmpty()
        && leftovers(kagzi, KAGZI_LEFTOVERS_SQL).isEmpty()
        && Tables.unfinished(kagzi) == 0;
  }

  private interface Reader<T> {
    T read(ResultSet row) throws SQLException;
  }

  private static <T> List<T> list(Connection connection, String sql, Reader<T> reader)
      throws SQLException {
    List<T> rows = new ArrayList<>();
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      while (row.next()) {
        rows.add(reader.read(row));
      }
    }
    return rows;
  }

  private static List<BankTransfer> orders(Connection connection) throws SQLException {
    return list(
        connection,
        "SELECT number, from_account, to_account, amount, needs_approval FROM bank_orders",
        row ->
            new BankTransfer(
                row.getInt(1), row.getInt(2), row.getInt(3), row.getInt(4), row.getBoolean(5)));
  }

  private static List<Integer> approvals(Connection connection) throws SQLException {
    return list(connection, "SELECT number FROM bank_approvals", row -> row.getInt(1));
  }

  private static List<String> leftovers(Connection connection, String sql) throws SQLException {
    return list(connection, sql, row -> row.getString(1));
  }

  private static Map<Integer, Long> accounts(Connection bank) throws SQLException {
    Map<Integer, Long> accounts = new HashMap<>();
    list(
        bank,
        "SELECT id, amount FROM accounts",
        row -> accounts.put(row.getInt(1), row.getLong(2)));
    return accounts;
  }

  private static List<Movement> movements(Connection bank) throws SQLException {
    return list(
        bank,
        "SELECT number, leg, account, amount, token FROM movements",
        row ->
            new Movement(
                row.getInt(1),
                Leg.valueOf(row.getString(2)),
                row.getInt(3),
                row.getInt(4),
                row.getString(5)));
  }

  private static List<Run> runs(Connection kagzi) throws SQLException {
    return list(
        kagzi,
        RUNS_SQL,
        row ->
            new Run(
                row.getInt("number"),
                row.getString("run_id"),
                row.getString("status"),
                row.getString("output").replace("\"", ""),
                row.getInt("signals")));
  }

  private static List<StoredResult> results(Connection bank) throws SQLException {
    return list(
        bank,
        "SELECT run_id, step_key, output IS NOT NULL FROM kagzi_steps",
        row ->
            new StoredResult(row.getString(1), Leg.valueOf(row.getString(2)), row.getBoolean(3)));
  }
}
