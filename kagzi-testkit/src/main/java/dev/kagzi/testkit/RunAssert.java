package dev.kagzi.testkit;

import dev.kagzi.sdk.Failure;
import dev.kagzi.sdk.ResultTimeoutException;
import dev.kagzi.sdk.RunCancelledException;
import dev.kagzi.sdk.RunFailedException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunInfo;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.StepInfo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.assertj.core.api.AbstractAssert;
import org.jspecify.annotations.Nullable;

/**
 * What a test claims of a run. Claims about its end wait for it, for ten seconds at most; all
 * others look at the run as it is, so that a test lets it {@linkplain KagziEnv#settle settle}
 * before. What fails says which steps there were.
 *
 * @param <O> the workflow's output
 */
public final class RunAssert<O> extends AbstractAssert<RunAssert<O>, RunHandle<O>> {
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  RunAssert(RunHandle<O> run) {
    super(run, RunAssert.class);
  }

  /** It ends well, with this result. */
  public RunAssert<O> completedWith(@Nullable O expected) {
    O result = result();
    if (!Objects.deepEquals(result, expected)) {
      throw fails("completed with %s (expected: %s)".formatted(result, expected));
    }
    return this;
  }

  /** It ends well, with whatever result. */
  public RunAssert<O> isCompleted() {
    O unused = result();
    return this;
  }

  private O result() {
    isNotNull();
    try {
      return actual.result(PATIENCE);
    } catch (RunFailedException | RunCancelledException e) {
      throw fails("%s (expected: COMPLETED)".formatted(e.getMessage()));
    } catch (ResultTimeoutException e) {
      throw fails("is %s (expected: COMPLETED)".formatted(actual.status()));
    }
  }

  /** It fails by an exception of this class, or of one that extends it. */
  public RunAssert<O> failedWith(Class<? extends Throwable> type) {
    Failure failure = awaitFailure();
    if (!failure.isA(type)) {
      throw fails("failed with %s (expected: %s)".formatted(failure, type.getName()));
    }
    return this;
  }

  /** It fails with a message that contains this. */
  public RunAssert<O> failedWithMessage(String part) {
    Failure failure = awaitFailure();
    if (!failure.message().contains(part)) {
      throw fails("failed with %s (expected: a message with %s)".formatted(failure, part));
    }
    return this;
  }

  private Failure awaitFailure() {
    isNotNull();
    try {
      O result = actual.result(PATIENCE);
      throw fails("completed with %s (expected: FAILED)".formatted(result));
    } catch (RunFailedException e) {
      return e.failure();
    } catch (RunCancelledException e) {
      throw fails("was cancelled (expected: FAILED)");
    } catch (ResultTimeoutException e) {
      throw fails("is %s (expected: FAILED)".formatted(actual.status()));
    }
  }

  public RunAssert<O> hasStatus(RunStatus expected) {
    isNotNull();
    RunStatus status = actual.status();
    if (status != expected) {
      throw fails("is %s (expected: %s)".formatted(status, expected));
    }
    return this;
  }

  /** It waits for a time or for a child. */
  public RunAssert<O> isSleeping() {
    return hasStatus(RunStatus.SLEEPING);
  }

  /**
   * How often a step was executed; nothing is claimed before the next call.
   *
   * @param step its name, for all steps of that name together, or its key ({@code charge#2})
   */
  public StepCount<O> executedStep(String step) {
    isNotNull();
    return new StepCount<>(this, step, count(step));
  }

  /** Its code never ran. */
  public RunAssert<O> neverExecutedStep(String step) {
    return executedStep(step).times(0);
  }

  private int count(String step) {
    return (int) executed().stream().filter(key -> StepNames.isMeant(step, key)).count();
  }

  /** Keys of all executions, sleeps and children, with repetitions. */
  private List<String> executed() {
    List<StepInfo> recorded = actual.history().steps();
    List<String> keys = new ArrayList<>(executedCode(recorded));
    keys.addAll(others(recorded));
    return keys;
  }

  private List<String> executedCode(List<StepInfo> recorded) {
    return Executions.of(actual.runId())
        .orElseGet(() -> recorded.stream().filter(RunAssert::isCode).map(StepInfo::key).toList());
  }

  /** Sleeps, children and the like. */
  private static List<String> others(List<StepInfo> recorded) {
    return recorded.stream().filter(step -> !isCode(step)).map(StepInfo::key).toList();
  }

  private static boolean isCode(StepInfo step) {
    return step.kind() == StepInfo.Kind.FUNCTION;
  }

  /** Says what is wrong with the run, and which steps there were. */
  AssertionError fails(String what) {
    List<StepInfo> recorded = actual.history().steps();
    List<String> code = executedCode(recorded);
    List<String> others = others(recorded);
    String message =
        "%s %s; executed: %s%s%s"
            .formatted(
                actual,
                what,
                code.isEmpty() ? "nothing" : String.join(", ", code),
                others.isEmpty() ? "" : "; slept, started or awaited: " + String.join(", ", others),
                waiting());
    // AssertJ would take per cent signs of values for its own.
    return failure("%s", message);
  }

  private String waiting() {
    RunInfo info = actual.info();
    return info.status() == RunStatus.PENDING
        ? "; it waits for a worker that serves %s on queue %s, or for its time"
            .formatted(info.type(), info.queue())
        : "";
  }
}
