package dev.kagzi.sdk.internal.jdbc;

import dev.kagzi.sdk.jdbc.Dialect;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLIntegrityConstraintViolationException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Statements about the row of one step. */
final class StepRows {
  private static final String INSERT =
      "INSERT INTO kagzi_steps (namespace, run_id, step_key, epoch) VALUES (?, ?, ?, ?)";

  // In PostgreSQL, a key violation would abort the transaction.
  private static final String INSERT_POSTGRESQL =
      INSERT + " ON CONFLICT (run_id, step_key) DO NOTHING";

  private static final String LOCK =
      "SELECT epoch, output FROM kagzi_steps WHERE run_id = ? AND step_key = ? FOR UPDATE";

  private static final String SET_EPOCH =
      "UPDATE kagzi_steps SET epoch = ? WHERE run_id = ? AND step_key = ?";

  private static final String SET_OUTPUT =
      "UPDATE kagzi_steps SET output = ? WHERE run_id = ? AND step_key = ?";

  private StepRows() {}

  /**
   * Inserts the step's row for this claim, or locks the existing one; waits for another transaction
   * that has it. Until the transaction ends, no other one can execute the step.
   *
   * @return the step's result; null if it has none
   * @throws StaleClaimException if it has none and a newer claim has used the row
   */
  static byte @Nullable [] lock(Connection connection, StepClaim claim)
      throws SQLException, StaleClaimException {
    Dialect dialect = Dialect.of(connection);
    if (insert(connection, dialect, claim)) {
      return null;
    }
    try (PreparedStatement select = connection.prepareStatement(LOCK)) {
      bindKey(select, 1, dialect, claim);
      try (ResultSet row = select.executeQuery()) {
        if (!row.next()) {
          throw new SQLException(
              "step %s of run %s: no row in kagzi_steps (expected: the row that another transaction inserted)"
                  .formatted(claim.stepKey(), claim.runId()));
        }
        byte[] output = row.getBytes(2);
        if (output != null) {
          return output;
        }
        takeOver(connection, dialect, claim, row.getInt(1));
        return null;
      }
    }
  }

  private static boolean insert(Connection connection, Dialect dialect, StepClaim claim)
      throws SQLException {
    boolean isPostgres = dialect == Dialect.POSTGRESQL;
    try (PreparedStatement insert =
        connection.prepareStatement(isPostgres ? INSERT_POSTGRESQL : INSERT)) {
      insert.setString(1, claim.namespace());
      bindKey(insert, 2, dialect, claim);
      insert.setInt(4, claim.epoch());
      return insert.executeUpdate() == 1;
    } catch (SQLIntegrityConstraintViolationException e) {
      if (isPostgres) {
        throw e;
      }
      return false;
    }
  }

  private static void takeOver(
      Connection connection, Dialect dialect, StepClaim claim, int foundEpoch)
      throws SQLException, StaleClaimException {
    if (foundEpoch > claim.epoch()) {
      throw new StaleClaimException(claim, foundEpoch);
    }
    if (foundEpoch < claim.epoch()) {
      try (PreparedStatement update = connection.prepareStatement(SET_EPOCH)) {
        update.setInt(1, claim.epoch());
        bindKey(update, 2, dialect, claim);
        requireRow(claim, update.executeUpdate());
      }
    }
  }

  /** Stores the step's result in the row that this transaction has locked. */
  static void store(Connection connection, StepClaim claim, byte[] output) throws SQLException {
    try (PreparedStatement update = connection.prepareStatement(SET_OUTPUT)) {
      update.setBytes(1, output);
      bindKey(update, 2, Dialect.of(connection), claim);
      requireRow(claim, update.executeUpdate());
    }
  }

  // The row is missing if the step's code has rolled back with a statement of its own.
  private static void requireRow(StepClaim claim, int updated) throws SQLException {
    if (updated != 1) {
      throw new SQLException(
          "step %s of run %s: its row in kagzi_steps is gone (expected: locked until the commit; did the step's code roll back?)"
              .formatted(claim.stepKey(), claim.runId()));
    }
  }

  private static void bindKey(
      PreparedStatement statement, int first, Dialect dialect, StepClaim claim)
      throws SQLException {
    if (dialect == Dialect.MYSQL) {
      statement.setString(first, claim.runId());
    } else {
      statement.setObject(first, UUID.fromString(claim.runId()));
    }
    statement.setString(first + 1, claim.stepKey());
  }
}
