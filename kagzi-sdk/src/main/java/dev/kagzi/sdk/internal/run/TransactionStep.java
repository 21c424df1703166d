package dev.kagzi.sdk.internal.run;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.sdk.PayloadException;
import dev.kagzi.sdk.internal.jdbc.StaleClaimException;
import dev.kagzi.sdk.internal.jdbc.StepTransaction;
import dev.kagzi.sdk.internal.wire.Payloads;
import dev.kagzi.sdk.jdbc.TransactionCode;
import java.lang.reflect.Type;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A step whose result is stored in the application's database, in the transaction of its effects. A
 * failure of the step is reported only after it is certain that nothing was committed. Only its
 * workflow thread uses it.
 */
final class TransactionStep {
  private final WorkflowThread workflowThread;
  private final Payloads payloads;
  private final StepTransaction transaction;
  private final String key;
  private final Type type;

  TransactionStep(
      WorkflowThread workflowThread,
      Payloads payloads,
      StepTransaction transaction,
      String key,
      Type type) {
    this.workflowThread = workflowThread;
    this.payloads = payloads;
    this.transaction = transaction;
    this.key = key;
    this.type = type;
  }

  @Nullable Object execute(TransactionCode<?> code) throws Exception {
    RunningStep step = Objects.requireNonNull(workflowThread.running(), "running");
    try {
      byte[] output =
          transaction.execute(
              connection -> payloads.record(code.run(connection), type).payload().toByteArray(),
              () -> check(step));
      return decode(output).value();
    } catch (SuspendedError e) {
      throw e;
    } catch (StaleClaimException e) {
      throw unresolved("its transaction was not executed: " + e.getMessage(), e);
    } catch (Throwable e) {
      Payloads.Recorded stored = settleAfter(e);
      if (stored == null) {
        throw e;
      }
      return stored.value();
    }
  }

  private void check(RunningStep step) throws Exception {
    workflowThread.check();
    if (step.isExpired(System.nanoTime())) {
      throw step.timeout(null);
    }
  }

  private Payloads.@Nullable Recorded settleAfter(Throwable failure) {
    workflowThread.check();
    // The interrupt of a timeout would close the connection that reads the outcome.
    boolean unused = Thread.interrupted();
    return settle("its transaction failed (%s), and ".formatted(failure));
  }

  /** Returns the stored result; null if there is none and no older claim can store one. */
  Payloads.@Nullable Recorded settle() {
    return settle("");
  }

  private Payloads.@Nullable Recorded settle(String context) {
    byte[] output;
    try {
      output = transaction.settle();
    } catch (StaleClaimException e) {
      throw unresolved(e.getMessage(), e);
    } catch (Exception e) {
      throw unresolved(
          context
              + "whether it was committed could not be read from kagzi_steps: %s (expected: the database answers; `kagzi sql steps --dialect postgresql|mysql|h2` prints the table)"
                  .formatted(e),
          e);
    }
    return output == null ? null : decode(output);
  }

  private Payloads.Recorded decode(byte[] output) {
    try {
      Payload payload = Payload.parseFrom(output);
      return new Payloads.Recorded(payload, payloads.decode(payload, type));
    } catch (PayloadException | InvalidProtocolBufferException e) {
      throw HistoryMismatch.blocked(
          workflowThread,
          BlockReason.RESULT_UNREADABLE.name(),
          "step %s: result in kagzi_steps: %s".formatted(key, e.getMessage()),
          e);
    }
  }

  private SuspendedError unresolved(@Nullable String message, Exception cause) {
    return HistoryMismatch.blocked(
        workflowThread,
        BlockReason.TRANSACTION_UNRESOLVED.name(),
        "step %s: %s".formatted(key, message),
        cause);
  }
}
