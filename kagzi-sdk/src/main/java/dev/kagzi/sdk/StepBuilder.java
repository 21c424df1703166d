package dev.kagzi.sdk;

import dev.kagzi.sdk.jdbc.TransactionCode;
import dev.kagzi.sdk.jdbc.Transactions;
import java.time.Duration;
import java.util.concurrent.Callable;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A step with options: {@link WorkflowContext#step(String)}. {@code run} executes it or returns its
 * recorded result.
 *
 * <pre>{@code
 * ctx.step("charge").retry(Retry.exponential(5)).timeout(Duration.ofSeconds(30))
 *     .run(Payment.class, () -> cards.charge(order));
 * }</pre>
 */
public interface StepBuilder {
  /**
   * Sets the retry policy of this step. Default: {@link WorkflowStarter#retry} or, if the start
   * sets none, the server's default.
   */
  StepBuilder retry(Retry retry);

  /**
   * Sets how long one attempt may take. Default: {@link WorkflowStarter#stepTimeout} or, if the
   * start sets none, the server's default of ten minutes.
   *
   * <p>When the timeout ends, the step's code is interrupted and the attempt fails with {@link
   * ErrorKind#TIMEOUT}, which is retried like other failures. A later result of the code is
   * ignored. If the code still runs a second after the interrupt, the worker releases the run. The
   * code then keeps its slot until it returns ({@link Worker#stuckCount}).
   */
  StepBuilder timeout(Duration timeout);

  /**
   * Sets the step's input, which is stored with a fingerprint. A replay with another input means
   * that the workflow was changed: the run is blocked until a worker has the original code.
   */
  StepBuilder input(@Nullable Object input);

  /**
   * Executes the step, or returns its recorded result.
   *
   * @throws StepFailedException if the step failed and is not retried
   */
  <T> T run(Class<T> type, Callable<? extends T> code);

  /** Like {@link #run(Class, Callable)}, for a result of a generic type. */
  <T> T run(TypeRef<T> type, Callable<? extends T> code);

  /** Like {@link #run(Class, Callable)}, for code without a result. */
  void run(StepAction code);

  /** Like {@link #run(Class, Callable)}, for code that uses its {@link StepContext}. */
  <T> T execute(Class<T> type, StepCode<? extends T> code);

  /** Like {@link #execute(Class, StepCode)}, for a result of a generic type. */
  <T> T execute(TypeRef<T> type, StepCode<? extends T> code);

  /**
   * Executes the step in a transaction of the application's database, in which its result is stored
   * too: {@link WorkflowContext#transaction(String, DataSource, Class, TransactionCode)}.
   *
   * @param transactions for plain JDBC: {@link Transactions#of}
   */
  <T> T transaction(Transactions transactions, Class<T> type, TransactionCode<? extends T> code);

  /** Like {@link #transaction(Transactions, Class, TransactionCode)}, for a generic type. */
  <T> T transaction(Transactions transactions, TypeRef<T> type, TransactionCode<? extends T> code);
}
