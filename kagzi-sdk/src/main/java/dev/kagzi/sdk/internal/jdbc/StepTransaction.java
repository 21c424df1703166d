package dev.kagzi.sdk.internal.jdbc;

import dev.kagzi.sdk.jdbc.TransactionCode;
import dev.kagzi.sdk.jdbc.Transactions;
import org.jspecify.annotations.Nullable;

/** Executes one step of one claim in a transaction of the application's database. */
public final class StepTransaction {
  private final Transactions transactions;
  private final StepClaim claim;

  /** Throws if the step must not be committed, for example because it has timed out. */
  public interface Guard {
    void check() throws Exception;
  }

  public StepTransaction(Transactions transactions, StepClaim claim) {
    this.transactions = transactions;
    this.claim = claim;
  }

  /**
   * Executes the code and stores what it returns, in one transaction; or returns the stored result.
   * If this method throws, the outcome of the transaction is unknown until {@link #settle} returns.
   */
  public byte[] execute(TransactionCode<byte[]> code, Guard guard) throws Exception {
    return transactions.inTransaction(
        connection -> {
          byte[] stored = StepRows.lock(connection, claim);
          if (stored != null) {
            return stored;
          }
          guard.check();
          byte[] output = code.run(StepConnection.of(connection, claim.stepKey()));
          StepRows.store(connection, claim, output);
          guard.check();
          return output;
        });
  }

  /**
   * Waits for the end of every transaction that executes the step. Returns the stored result, or
   * null if there is none: then this claim's epoch is in the row, and transactions of older claims
   * can no longer execute the step.
   */
  @SuppressWarnings("NullAway") // Null is a result.
  public byte @Nullable [] settle() throws Exception {
    return transactions.inTransaction(connection -> StepRows.lock(connection, claim));
  }
}
