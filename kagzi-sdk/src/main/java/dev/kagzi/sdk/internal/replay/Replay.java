package dev.kagzi.sdk.internal.replay;

import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.GetHistoryResponse;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.sdk.ErrorKind;
import dev.kagzi.sdk.PayloadException;
import dev.kagzi.sdk.internal.history.HistoryFile;
import dev.kagzi.sdk.internal.log.LoggedRun;
import dev.kagzi.sdk.internal.metrics.ClientMetrics;
import dev.kagzi.sdk.internal.replay.RecordedRun.Entry;
import dev.kagzi.sdk.internal.replay.ReplayLane.End;
import dev.kagzi.sdk.internal.report.ReportLane;
import dev.kagzi.sdk.internal.run.FailureRecorder;
import dev.kagzi.sdk.internal.run.InterceptorChain;
import dev.kagzi.sdk.internal.run.RegisteredWorkflow;
import dev.kagzi.sdk.internal.run.RunExecution;
import dev.kagzi.sdk.internal.run.RunHost;
import dev.kagzi.sdk.internal.run.RunOutcome;
import dev.kagzi.sdk.internal.trace.ExecutionTrace;
import dev.kagzi.sdk.internal.wire.Payloads;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import java.lang.reflect.Type;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

public final class Replay {
  private static final long TIMEOUT_SECONDS = 10;
  private static final Pattern ABOUT_STEP =
      Pattern.compile("(?:step|child|race|branches) (\\S+): ");

  private final RecordedRun recordedRun;
  private final RegisteredWorkflow<?, ?> code;
  private final Payloads payloads;
  private final HistoryComparator comparator;
  private final ReplayLane lane;
  private final CountDownLatch ended = new CountDownLatch(1);

  private Replay(HistoryFile file, RegisteredWorkflow<?, ?> code, Payloads payloads) {
    this.recordedRun = RecordedRun.of(file);
    this.code = code;
    this.payloads = payloads;
    this.comparator = new HistoryComparator(recordedRun);
    this.lane = new ReplayLane(file.run().getRunId());
  }

  /** Returns the first difference; null if the code does what is recorded. */
  public static @Nullable HistoryDifference compare(
      HistoryFile file, RegisteredWorkflow<?, ?> code, Payloads payloads) {
    return new Replay(file, code, payloads).compare();
  }

  private @Nullable HistoryDifference compare() {
    RunExecution execution = new RunExecution(new Host(), recordedRun.task());
    execution.start();
    if (!hasEnded()) {
      execution.lose();
      return HistoryDifference.of(
          0,
          "the code neither ended nor asked for a step for %d s (expected: blocking calls are in steps)"
              .formatted(TIMEOUT_SECONDS));
    }
    HistoryDifference found = comparator.difference();
    return found == null ? differenceAtEnd(lane.end()) : found;
  }

  private boolean hasEnded() {
    try {
      return ended.await(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private @Nullable HistoryDifference differenceAtEnd(End end) {
    Entry missed = comparator.missed();
    return switch (end) {
      case End.Blocked(ErrorDetail why) -> {
        Matcher about = ABOUT_STEP.matcher(why.getMessage());
        int number = about.lookingAt() ? comparator.number(about.group(1)) : 0;
        yield HistoryDifference.of(number, why.getMessage());
      }
      case End.Returned(Payload output) -> {
        if (missed != null) {
          yield HistoryDifference.of(
              missed.number(), HistoryComparator.name(missed), "returns without it");
        }
        if (!recordedRun.isEndedByCode()) {
          yield null;
        }
        if (recordedRun.isContinued()) {
          yield HistoryDifference.of(0, "continues as new", "returns");
        }
        yield recordedRun.isCompleted()
            ? differenceOf(recordedRun.run().getOutput(), output)
            : HistoryDifference.of(0, failure(recordedRun.run().getError()), "completes");
      }
      case End.Threw(ErrorDetail error) -> {
        if (missed != null) {
          yield HistoryDifference.of(
              missed.number(),
              HistoryComparator.name(missed),
              "ends before it with " + failure(error));
        }
        yield recordedRun.isCompleted()
            ? HistoryDifference.of(0, "COMPLETED", "ends with " + failure(error))
            : null;
      }
      case End.Continued() -> {
        if (missed != null) {
          yield HistoryDifference.of(
              missed.number(), HistoryComparator.name(missed), "continues as new without it");
        }
        yield recordedRun.isEndedByCode() && !recordedRun.isContinued()
            ? HistoryDifference.of(0, recordedRun.status(), "continues as new")
            : null;
      }
      case End.Waiting() ->
          recordedRun.isEndedByCode()
              ? HistoryDifference.of(0, recordedRun.status(), "still waits for something")
              : null;
    };
  }

  private static String failure(ErrorDetail error) {
    return "FAILED (" + ProtoMapper.failure(error) + ")";
  }

  /** Compares decoded values, because encrypted payloads of equal values differ. */
  private @Nullable HistoryDifference differenceOf(Payload recorded, Payload returned) {
    Type type = code.type().outputType();
    Object before;
    try {
      before = payloads.decode(recorded, type);
    } catch (PayloadException e) {
      return HistoryDifference.of(0, "the run's result: " + e.getMessage());
    }
    Object now = payloads.decode(returned, type);
    boolean same =
        Objects.equals(before, now)
            || payloads.fingerprint(before).equals(payloads.fingerprint(now));
    return same ? null : HistoryDifference.of(0, "the result " + before, "returns " + now);
  }

  private final class Host implements RunHost {
    private final RunHost.Settings settings =
        new RunHost.Settings(
            recordedRun.run().getNamespace(),
            recordedRun.run().getTaskQueue(),
            payloads,
            new FailureRecorder(FailureRecorder.KEEP_ALL, thrown -> ErrorKind.UNKNOWN, true),
            new InterceptorChain(List.of()),
            null,
            comparator,
            ClientMetrics.NONE);

    @Override
    public RunHost.Settings settings() {
      return settings;
    }

    @Override
    public String workerId() {
      return "";
    }

    @Override
    public RegisteredWorkflow<?, ?> code(Task task) {
      return code;
    }

    @Override
    public ReportLane lane(Task task, LoggedRun logged) {
      return lane;
    }

    @Override
    public ExecutionTrace trace(Task task) {
      return ExecutionTrace.OFF;
    }

    @Override
    public Iterator<GetHistoryResponse> history(Task task) {
      return Collections.emptyIterator();
    }

    @Override
    public long blockedDelayMs(String runId) {
      return 0;
    }

    @Override
    public void claimGone(RunExecution execution) {}

    @Override
    public void ended(RunExecution execution, RunOutcome outcome) {
      ended.countDown();
    }
  }
}
