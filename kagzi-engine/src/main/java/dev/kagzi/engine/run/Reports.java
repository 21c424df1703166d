package dev.kagzi.engine.run;

import dev.kagzi.engine.internal.journal.Journal;
import dev.kagzi.engine.internal.run.BeginStep;
import dev.kagzi.engine.internal.run.ReportWrite;
import dev.kagzi.engine.internal.run.RunWrite;
import dev.kagzi.engine.internal.run.StartChecks;
import dev.kagzi.engine.internal.run.StepCounts;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.value.CallbackAnswer;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.PublishedValue;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepRef;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Accepts reports of workers and step calls of simple clients. Thread-safe; does not block. */
public final class Reports {
  private static final long WAIT_MS_MAX = Duration.ofDays(100L * 366).toMillis();
  private static final Instant LATEST = Instant.parse("2200-01-01T00:00:00Z");

  private final Journal<RunWrite<?>> journal;
  private final Limits limits;
  private final StartChecks starts;
  private final StepCounts steps;

  public Reports(
      Journal<RunWrite<?>> journal, Limits limits, StartChecks starts, StepCounts steps) {
    this.starts = starts;
    this.journal = journal;
    this.limits = limits;
    this.steps = steps;
  }

  /** Returns one result per report, in order. The future completes when all reports are durable. */
  public CompletableFuture<List<ReportResult>> accept(String namespace, List<Report> reports) {
    List<CompletableFuture<ReportResult>> answers = new ArrayList<>(reports.size());
    List<RunWrite<?>> writes = new ArrayList<>(reports.size());
    Map<Claim, Map<String, Refusal>> refused = new HashMap<>();
    Map<Claim, ReportWrite> last = new HashMap<>();
    for (Report report : reports) {
      Refusal before = refusedBefore(refused.getOrDefault(report.claim(), Map.of()), report);
      if (before != null) {
        // The worker assumed that its earlier report was stored. A run must not complete without
        // it.
        answers.add(CompletableFuture.completedFuture(new ReportResult.Refused(before)));
        continue;
      }
      try {
        check(report);
        ReportWrite write = new ReportWrite(namespace, report);
        // PostgreSQL may refuse a report, too.
        ReportWrite earlier = last.put(report.claim(), write);
        if (earlier != null) {
          write.dependOn(earlier);
        }
        writes.add(write);
        answers.add(write.done());
      } catch (Refusal refusal) {
        refused
            .computeIfAbsent(report.claim(), claim -> new HashMap<>(2))
            .putIfAbsent(scope(report), refusal);
        answers.add(CompletableFuture.completedFuture(new ReportResult.Refused(refusal)));
      }
    }
    if (!writes.isEmpty()) {
      journal.append(writes);
    }
    return CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new))
        .handle((ignored, failure) -> results(answers));
  }

  /**
   * Returns the refusal of an earlier report of the same branch. For a report without a step key,
   * such as the end of the run, returns the refusal of any branch.
   */
  private static @Nullable Refusal refusedBefore(Map<String, Refusal> refused, Report report) {
    if (refused.isEmpty()) {
      return null;
    }
    return stepKey(report) != null
        ? refused.get(scope(report))
        : refused.values().iterator().next();
  }

  /** The branch prefix of the step key; empty outside of branches. */
  private static String scope(Report report) {
    String key = stepKey(report);
    return key == null ? "" : key.substring(0, key.lastIndexOf('/') + 1);
  }

  private static @Nullable String stepKey(Report report) {
    return switch (report) {
      case Report.StepStarted r -> r.stepKey();
      case Report.StepDone r -> r.stepKey();
      case Report.StepFailed r -> r.stepKey();
      case Report.Sleep r -> r.stepKey();
      case Report.ChildStarted r -> r.stepKey();
      case Report.Receive r -> r.stepKey();
      case Report.ReceivesStopped r -> r.winner() == null ? null : r.winner().stepKey();
      // One report may have values of several branches.
      case Report.ValuesPublished ignored -> null;
      case Report.ContinueAsNew ignored -> null;
      case Report.CancelSeen r -> r.stepKey();
      case Report.Done ignored -> null;
      case Report.Failed ignored -> null;
      case Report.Released ignored -> null;
      case Report.Awaited ignored -> null;
    };
  }

  /**
   * Returns a refusal as the result of its report. If the database is unavailable or the server is
   * overloaded, the whole call fails.
   */
  private static List<ReportResult> results(List<CompletableFuture<ReportResult>> answers) {
    List<ReportResult> results = new ArrayList<>(answers.size());
    for (CompletableFuture<ReportResult> answer : answers) {
      if (answer.isCompletedExceptionally()) {
        results.add(refused(answer.exceptionNow()));
      } else {
        results.add(answer.join());
      }
    }
    return results;
  }

  private static ReportResult refused(Throwable failure) {
    if (failure instanceof Refusal refusal) {
      return switch (refusal.reason()) {
        case INVALID_ARGUMENT,
            UNAUTHENTICATED,
            NOT_FOUND,
            ALREADY_EXISTS,
            FAILED_PRECONDITION,
            ABORTED,
            UNIMPLEMENTED ->
            new ReportResult.Refused(refusal);
        case RESOURCE_EXHAUSTED, UNAVAILABLE, INTERNAL -> throw refusal;
      };
    }
    throw new IllegalStateException("report failed", failure);
  }

  private void check(Report report) {
    if (report.claim().epoch() < 1) {
      throw Refusal.invalid("epoch", report.claim().epoch(), "at least 1");
    }
    checkContent(report);
  }

  private void checkContent(Report report) {
    switch (report) {
      case Report.StepStarted r -> {
        checkStep(r.stepKey(), r.attempt(), r.input(), r.inputHash());
        limits.checkPayload("progress", r.progress());
        checkWait("timeout_ms", r.timeoutMs());
      }
      case Report.StepDone r -> {
        checkStep(r.stepKey(), r.attempt(), r.input(), r.inputHash());
        limits.checkPayload("output", r.output());
      }
      case Report.StepFailed r -> {
        checkStep(r.stepKey(), r.attempt(), r.input(), r.inputHash());
        limits.checkPayload("progress", r.progress());
        limits.checkFailure("error", r.failure());
      }
      case Report.Sleep r -> {
        checkStep(r.stepKey(), 1, null, "");
        checkSleep(r);
      }
      case Report.Done r -> limits.checkPayload("output", r.output());
      case Report.Failed r -> limits.checkFailure("error", r.failure());
      case Report.Released r -> {
        checkWait("delay_ms", r.delayMs());
        if (r.blockedBy() != null) {
          limits.checkFailure("blocked_by", r.blockedBy());
        }
      }
      case Report.ChildStarted r -> {
        checkStep(r.stepKey(), r.attempt(), null, "");
        starts.checkChild(r.start());
      }
      case Report.Awaited r -> {
        checkWait("duration_ms", r.durationMs() == null ? 0 : r.durationMs());
        r.steps().forEach(step -> limits.checkStepKey("step_key", step));
      }
      case Report.Receive r -> {
        checkStep(r.stepKey(), 1, null, "");
        checkSignalName(r.signal());
        checkWait("timeout_ms", r.timeoutMs() == null ? 0 : r.timeoutMs());
      }
      case Report.ReceivesStopped r -> {
        r.scopes().forEach(this::checkScope);
        if (r.winner() != null) {
          checkContent(r.winner());
        }
      }
      case Report.ValuesPublished r -> r.values().forEach(this::checkPublished);
      case Report.ContinueAsNew r -> {
        limits.checkPayload("input", r.input());
        limits.checkOptionalName("version", r.version());
        if (!r.stepKey().isEmpty()) {
          limits.checkStepKey("step_key", r.stepKey());
        }
      }
      case Report.CancelSeen r -> {
        checkStep(r.stepKey(), 1, null, "");
        checkOptionalScope(r.scope());
      }
    }
    steps.check(report);
  }

  private void checkPublished(PublishedValue value) {
    limits.checkName("name", value.name());
    checkOptionalScope(value.scope());
    if (value.sequence() < 1 || value.order() < 1) {
      throw Refusal.invalid(
          "sequence and order", value.sequence() + " and " + value.order(), "at least 1");
    }
    String field = "published[" + Refusal.shorten(value.name()) + "]";
    if (value.payload().bytes() > PublishedValue.BYTES_MAX) {
      throw Refusal.invalid(
          field,
          value.payload().bytes() + " bytes",
          "at most " + PublishedValue.BYTES_MAX + " bytes");
    }
    limits.checkPayload(field, value.payload());
  }

  private void checkSignalName(String name) {
    if (CallbackAnswer.isSignalName(name)) {
      limits.checkStepKey("signal_name", name.substring(CallbackAnswer.PREFIX.length()));
    } else {
      limits.checkName("signal_name", name);
    }
  }

  private void checkOptionalScope(String scope) {
    if (!scope.isEmpty()) {
      checkScope(scope);
    }
  }

  private void checkScope(String scope) {
    limits.checkStepKey("scope", scope);
    if (!scope.endsWith("]/")) {
      throw Refusal.invalid("scope", scope, "the scope of a branch, such as \"race[timer]/\"");
    }
  }

  private void checkStep(String stepKey, int attempt, @Nullable Payload input, String inputHash) {
    limits.checkStepKey("step_key", stepKey);
    if (attempt < 1) {
      throw Refusal.invalid("attempt", attempt, "at least 1");
    }
    limits.checkPayload("input", input);
    limits.checkOptionalName("input_hash", inputHash);
  }

  private static void checkSleep(Report.Sleep r) {
    if (r.durationMs() != null) {
      checkWait("duration", r.durationMs());
    }
    if (r.until() != null && (r.until().isAfter(LATEST) || r.until().isBefore(Instant.EPOCH))) {
      throw Refusal.invalid("until", r.until(), Instant.EPOCH + " to " + LATEST);
    }
  }

  private static void checkWait(String field, long millis) {
    if (millis < 0 || millis > WAIT_MS_MAX) {
      throw Refusal.invalid(field, millis + " ms", "0 to " + WAIT_MS_MAX + " ms");
    }
  }

  // Simple clients: one call per step or run. Calls with a step id contain the claim; the other
  // calls may be sent without an epoch.

  /** Begins a step attempt. Returns the recorded output, or that the step must be executed. */
  public CompletableFuture<BegunStep> begin(
      String namespace,
      RunId run,
      String stepName,
      StepKind kind,
      @Nullable Payload input,
      @Nullable RetryPolicy policy,
      long timeoutMs,
      Caller caller) {
    limits.checkStepKey("step_name", stepName);
    checkWait("start_to_close_timeout_ms", timeoutMs);
    limits.checkPayload("input", input);
    BeginStep begin =
        new BeginStep(
            new BeginStep.Call(
                namespace, caller.claim(run), caller, stepName, kind, input, policy, timeoutMs));
    journal.append(begin);
    return begin.done();
  }

  /**
   * Records the result of a step that {@link #begin} opened. If the attempt is already completed,
   * its result is kept and the call succeeds.
   */
  public CompletableFuture<StepRef> completeStep(
      String namespace, StepRef ref, Payload output, Caller caller) {
    Report.StepDone done =
        new Report.StepDone(
            claim(ref, caller),
            ref.stepKey(),
            ref.attempt(),
            StepKind.FUNCTION,
            null,
            output,
            0,
            "");
    return simple(namespace, done, caller, result -> ref);
  }

  /**
   * The result of {@link #failStep}.
   *
   * @param retryAt when the step is retried; null if it is not
   */
  public record FailedStep(boolean retryScheduled, @Nullable Instant retryAt) {}

  /**
   * Records the failure of a step that {@link #begin} opened. If the step is retried, the claim
   * ends and the run is due again at the retry time.
   */
  public CompletableFuture<FailedStep> failStep(
      String namespace, StepRef ref, Failure failure, Caller caller) {
    Report.StepFailed failed =
        new Report.StepFailed(
            claim(ref, caller),
            ref.stepKey(),
            ref.attempt(),
            null,
            failure,
            null,
            false,
            0,
            "",
            null);
    return simple(
        namespace,
        failed,
        caller,
        result ->
            result instanceof ReportResult.RetryScheduled retry
                ? new FailedStep(true, retry.at())
                : new FailedStep(false, null));
  }

  /** Puts the run to sleep. A sleep that has already begun keeps its wake time. */
  public CompletableFuture<Void> sleep(
      String namespace, StepRef ref, Duration duration, Caller caller) {
    long millis = Math.ceilDiv(duration.toNanos(), 1_000_000L);
    Report.Sleep sleep = new Report.Sleep(claim(ref, caller), ref.stepKey(), millis, null, false);
    return simple(namespace, sleep, caller, result -> null);
  }

  public CompletableFuture<RunStatus> completeRun(
      String namespace, RunId run, @Nullable Payload output, Caller caller) {
    // Every step of a simple client is stored as RUNNING when it begins, so some may still be open.
    return simple(
        namespace, new Report.Done(caller.claim(run), output, true), caller, Reports::status);
  }

  public CompletableFuture<RunStatus> failRun(
      String namespace, RunId run, Failure failure, Caller caller) {
    return simple(
        namespace, new Report.Failed(caller.claim(run), failure), caller, Reports::status);
  }

  private static RunStatus status(ReportResult result) {
    return switch (result) {
      case ReportResult.Accepted(RunStatus status) -> status;
      // The whole run is retried: it is PENDING until its next attempt.
      case ReportResult.RetryScheduled ignored -> RunStatus.PENDING;
      case ReportResult.ChildAccepted ignored -> throw notOfEnd(result);
      case ReportResult.AwaitedSteps ignored -> throw notOfEnd(result);
      case ReportResult.AlreadyRecorded ignored -> throw notOfEnd(result);
      case ReportResult.FinalFailure ignored -> throw notOfEnd(result);
      case ReportResult.Sleeping ignored -> throw notOfEnd(result);
      case ReportResult.Receiving ignored -> throw notOfEnd(result);
      case ReportResult.Received ignored -> throw notOfEnd(result);
      case ReportResult.Continued ignored -> throw notOfEnd(result);
      case ReportResult.ClaimLost ignored -> throw notOfEnd(result);
      case ReportResult.Refused ignored -> throw notOfEnd(result);
    };
  }

  private static IllegalStateException notOfEnd(ReportResult result) {
    return new IllegalStateException("result of a run's end: " + result);
  }

  private <T> CompletableFuture<T> simple(
      String namespace, Report report, Caller caller, Function<ReportResult, T> mapper) {
    checkContent(report);
    ReportWrite write = new ReportWrite(namespace, report, caller);
    journal.append(write);
    return write
        .done()
        .thenApply(
            result ->
                switch (result) {
                  case ReportResult.ClaimLost(RunStatus status) ->
                      throw Refusal.of(
                          Refusal.Code.CLAIM_LOST,
                          "run",
                          report.claim().runId().toString(),
                          "run %s: claim lost (status %s, expected: RUNNING under this claim)"
                              .formatted(report.claim().runId(), status));
                  case ReportResult.Refused(Refusal refusal) -> throw refusal;
                  default -> mapper.apply(result);
                });
  }

  /** The claim in the step id. An epoch in the call must be the same. */
  private static Claim claim(StepRef ref, Caller caller) {
    Integer epoch = caller.epoch();
    if (epoch != null && epoch != 0 && epoch != ref.epoch()) {
      throw Refusal.invalid(
          "epoch", epoch, "%d, the claim that step_id %s names".formatted(ref.epoch(), ref));
    }
    return new Claim(ref.runId(), ref.epoch());
  }
}
