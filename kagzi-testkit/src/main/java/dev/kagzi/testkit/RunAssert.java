package dev.kagzi.testkit;

import dev.kagzi.sdk.Failure;
import dev.kagzi.sdk.ResultTimeoutException;
import dev.kagzi.sdk.RunCancelledException;
import dev.kagzi.sdk.RunExplanation;
import dev.kagzi.sdk.RunFailedException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.SignalInfo;
import dev.kagzi.sdk.StepInfo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.assertj.core.api.AbstractAssert;
import org.jspecify.annotations.Nullable;

/**
 * Assertions about a run. Assertions about its end wait for it, at most ten seconds. All others
 * check the current state, so call {@link KagziEnv#settle} first. Failure messages list the
 * executed steps and, for a run that has not ended, why it does not continue.
 *
 * @param <O> the workflow's output type
 */
public final class RunAssert<O> extends AbstractAssert<RunAssert<O>, RunHandle<O>> {
  private static final Duration END_TIMEOUT = Duration.ofSeconds(10);

  RunAssert(RunHandle<O> run) {
    super(run, RunAssert.class);
  }

  /** Asserts that the run completes with this result. */
  public RunAssert<O> completedWith(@Nullable O expected) {
    O result = result();
    if (!Objects.deepEquals(result, expected)) {
      throw failsWith("completed with %s (expected: %s)".formatted(result, expected));
    }
    return this;
  }

  /** Asserts that the run completes with any result. */
  public RunAssert<O> isCompleted() {
    O unused = result();
    return this;
  }

  private O result() {
    isNotNull();
    try {
      return actual.result(END_TIMEOUT);
    } catch (RunFailedException | RunCancelledException e) {
      throw failsWith("%s (expected: COMPLETED)".formatted(e.getMessage()));
    } catch (ResultTimeoutException e) {
      throw failsWith("is %s (expected: COMPLETED)".formatted(actual.status()));
    }
  }

  /**
   * Asserts that the run fails with an exception of this class or a subclass, or with one that has
   * a cause of exactly this class: {@link Failure#isA}.
   */
  public RunAssert<O> failedWith(Class<? extends Throwable> type) {
    Failure failure = awaitFailure();
    if (!failure.isA(type)) {
      throw failsWith("failed with %s (expected: %s)".formatted(failure, type.getName()));
    }
    return this;
  }

  /** Asserts that the run fails with a message that contains this text. */
  public RunAssert<O> failedWithMessage(String part) {
    Failure failure = awaitFailure();
    if (!failure.message().contains(part)) {
      throw failsWith("failed with %s (expected: a message with %s)".formatted(failure, part));
    }
    return this;
  }

  private Failure awaitFailure() {
    isNotNull();
    try {
      O result = actual.result(END_TIMEOUT);
      throw failsWith("completed with %s (expected: FAILED)".formatted(result));
    } catch (RunFailedException e) {
      return e.failure();
    } catch (RunCancelledException e) {
      throw failsWith("was cancelled (expected: FAILED)");
    } catch (ResultTimeoutException e) {
      throw failsWith("is %s (expected: FAILED)".formatted(actual.status()));
    }
  }

  /** Asserts the run's current status. */
  public RunAssert<O> hasStatus(RunStatus expected) {
    isNotNull();
    RunStatus status = actual.status();
    if (status != expected) {
      throw failsWith("is %s (expected: %s)".formatted(status, expected));
    }
    return this;
  }

  /** Asserts which signals the run has received, by name and in the order of their arrival. */
  public RunAssert<O> hasReceivedSignals(String... names) {
    return hasSignals(true, List.of(names));
  }

  /** Asserts which arrived signals the run has not received, by name and in their order. */
  public RunAssert<O> hasUnreceivedSignals(String... names) {
    return hasSignals(false, List.of(names));
  }

  private RunAssert<O> hasSignals(boolean received, List<String> expected) {
    isNotNull();
    List<String> found =
        actual.signals().stream()
            .filter(signal -> signal.isReceived() == received)
            .map(SignalInfo::name)
            .toList();
    if (!found.equals(expected)) {
      throw failsWith(
          "%s the signals %s (expected: %s)"
              .formatted(received ? "has received" : "has not received", found, expected));
    }
    return this;
  }

  /** Asserts that the last value that the run has published under the name equals this one. */
  public RunAssert<O> hasPublished(String name, Object value) {
    isNotNull();
    Optional<?> found = actual.published(name, value.getClass());
    if (!found.equals(Optional.of(value))) {
      throw failsWith(
          "has published %s as %s (expected: %s)"
              .formatted(found.isEmpty() ? "nothing" : found.get(), name, value));
    }
    return this;
  }

  /**
   * Asserts that the run has continued as new. Returns assertions about the run that it has
   * continued as. {@link #completedWith} about either run waits for the end of their chain.
   *
   * <pre>{@code
   * assertThat(run).continuedAsNew().hasUnreceivedSignals("movement");
   * }</pre>
   */
  public RunAssert<O> continuedAsNew() {
    isNotNull();
    return new RunAssert<>(
        actual
            .successor()
            .orElseThrow(
                () ->
                    failsWith(
                        "is %s and has not continued (expected: it has continued as new)"
                            .formatted(actual.status()))));
  }

  /** Asserts that a cancel of the run was requested: its code cleans up, or has done so. */
  public RunAssert<O> isCancelRequested() {
    isNotNull();
    if (actual.info().cancelRequestedAt().isEmpty()) {
      throw failsWith("is not cancelled (expected: a requested cancel, and a type that cleans up)");
    }
    return this;
  }

  /** Asserts that the run is suspended: it sleeps, or waits for a child, signal or callback. */
  public RunAssert<O> isSleeping() {
    return hasStatus(RunStatus.SLEEPING);
  }

  /**
   * Returns assertions about how often a step was executed.
   *
   * @param step the step's name, which counts all steps of that name, or its key ({@code charge#2})
   */
  public StepCount<O> executedStep(String step) {
    isNotNull();
    return new StepCount<>(this, step, count(step));
  }

  /** Asserts that the step's code was never executed. */
  public RunAssert<O> neverExecutedStep(String step) {
    return executedStep(step).times(0);
  }

  private int count(String step) {
    return (int) executed().stream().filter(key -> StepNames.matches(step, key)).count();
  }

  /** Returns the keys of all executed steps, sleeps and children, with repetitions. */
  private List<String> executed() {
    List<StepInfo> recorded = actual.history().steps();
    List<String> keys = new ArrayList<>(executedCode(recorded));
    keys.addAll(withoutCode(recorded));
    return keys;
  }

  private List<String> executedCode(List<StepInfo> recorded) {
    return Executions.of(actual.runId())
        .orElseGet(() -> recorded.stream().filter(RunAssert::isCode).map(StepInfo::key).toList());
  }

  /** Returns the keys of steps without application code, such as sleeps and children. */
  private static List<String> withoutCode(List<StepInfo> recorded) {
    return recorded.stream().filter(step -> !isCode(step)).map(StepInfo::key).toList();
  }

  private static boolean isCode(StepInfo step) {
    return step.kind() == StepInfo.Kind.FUNCTION;
  }

  /** Returns an error with the problem and the executed steps. */
  AssertionError failsWith(String problem) {
    List<StepInfo> recorded = actual.history().steps();
    List<String> code = executedCode(recorded);
    List<String> withoutCode = withoutCode(recorded);
    String message =
        "%s %s; executed: %s%s%s"
            .formatted(
                actual,
                problem,
                code.isEmpty() ? "nothing" : String.join(", ", code),
                withoutCode.isEmpty()
                    ? ""
                    : "; slept, started or awaited: " + String.join(", ", withoutCode),
                explanation());
    // Passed as an argument, because AssertJ would interpret percent signs in the message.
    return failure("%s", message);
  }

  /** Why a run that has not ended does not continue, or what it is doing. */
  private String explanation() {
    RunExplanation explained = actual.explain();
    boolean hasEnded = explained.status().map(RunStatus::isFinished).orElse(false);
    return hasEnded ? "" : "; " + explained.toString().replace('\n', ' ');
  }
}
