package dev.kagzi.engine;

import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.StepKind;
import java.util.List;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/** Reports without the fields that most tests leave out. */
@NullMarked
public final class TestReports {
  private TestReports() {}

  public static Report.StepStarted started(
      Claim claim,
      String stepKey,
      int attempt,
      StepKind kind,
      @Nullable Payload input,
      long ranMs) {
    return started(claim, stepKey, attempt, kind, input, ranMs, 0, null);
  }

  public static Report.StepStarted started(
      Claim claim,
      String stepKey,
      int attempt,
      StepKind kind,
      @Nullable Payload input,
      long ranMs,
      long timeoutMs,
      @Nullable RetryPolicy policy) {
    return new Report.StepStarted(
        claim, stepKey, attempt, kind, input, ranMs * 1_000, timeoutMs, policy, "", null);
  }

  public static Report.StepDone done(
      Claim claim,
      String stepKey,
      int attempt,
      StepKind kind,
      @Nullable Payload input,
      Payload output,
      long ranMs) {
    return new Report.StepDone(claim, stepKey, attempt, kind, input, output, ranMs * 1_000, "");
  }

  public static Report.StepFailed failed(
      Claim claim,
      String stepKey,
      int attempt,
      @Nullable Payload input,
      Failure failure,
      @Nullable RetryPolicy policy,
      boolean keepClaim,
      long ranMs) {
    return new Report.StepFailed(
        claim, stepKey, attempt, input, failure, policy, keepClaim, ranMs * 1_000, "", null);
  }

  public static Report.Done ended(Claim claim, @Nullable Payload output) {
    return new Report.Done(claim, output, false);
  }

  public static Report.Awaited awaited(
      Claim claim, List<String> steps, boolean all, @Nullable Long durationMs) {
    return new Report.Awaited(claim, steps, all, durationMs, false);
  }
}
