package dev.kagzi.cli;

import dev.kagzi.protocol.v1.AwaitWorkflowRequest;
import dev.kagzi.protocol.v1.AwaitWorkflowResponse;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowStatus;
import dev.kagzi.server.config.OptionType;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "result",
    description = "Waits for a run's end and prints its result.",
    footer = {"", "Exit code 5: the run did not complete, or not in time."})
final class WorkflowResult extends RemoteCommand {

  // Less than the deadline of a call in RemoteServer.
  private static final long WAIT_MS_MAX = 5_000;
  private static final long AWAY_MS = 1_000;

  private static final OptionType TIME = new OptionType.Time("0s", "36500d");

  @Parameters(paramLabel = "RUN", description = "The run id, or the external id of its start.")
  private String run = "";

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      description = "The longest wait, for example 30s or 5m (default: until the run ends).")
  private @Nullable String timeout;

  @Override
  int run(RemoteServer server, Output output) {
    long limitNanos = limit();
    long began = System.nanoTime();
    String runId = server.runId(run);
    boolean unreachable = false;
    while (true) {
      long leftMs = (limitNanos - (System.nanoTime() - began)) / 1_000_000;
      AwaitWorkflowResponse now;
      try {
        now = await(server, runId, Math.clamp(leftMs, 1, WAIT_MS_MAX));
        unreachable = false;
      } catch (CliException e) {
        // The server has answered before, so it is probably restarting: wait for it.
        if (e.exitCode() != ExitCode.UNREACHABLE || leftMs <= AWAY_MS) {
          throw e;
        }
        if (!unreachable) {
          output.printNote(e.getMessage() + "; waiting for it");
        }
        unreachable = true;
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(AWAY_MS));
        continue;
      }
      if (now.getFinished()) {
        return print(now.getWorkflow(), output);
      }
      if (leftMs <= WAIT_MS_MAX) {
        output.print(now.getWorkflow(), () -> "");
        output.printNote(
            "run %s: %s after %s".formatted(runId, status(now.getWorkflow()), timeout));
        return ExitCode.NOT_COMPLETED;
      }
    }
  }

  private long limit() {
    if (timeout == null) {
      return Long.MAX_VALUE;
    }
    try {
      return ((Duration) TIME.read(timeout)).toNanos();
    } catch (IllegalArgumentException e) {
      throw usageError("--timeout", timeout, String.valueOf(e.getMessage()));
    }
  }

  private static AwaitWorkflowResponse await(RemoteServer server, String runId, long waitMs) {
    AwaitWorkflowRequest request =
        AwaitWorkflowRequest.newBuilder()
            .setNamespace(server.namespace())
            .setRunId(runId)
            .setWaitMs(waitMs)
            .build();
    return server.call(() -> server.workflows().awaitWorkflow(request));
  }

  private static int print(Workflow ended, Output output) {
    output.print(ended, () -> RunText.wholePayload(ended.getOutput()));
    if (ended.getStatus() == WorkflowStatus.WORKFLOW_STATUS_COMPLETED) {
      return ExitCode.DONE;
    }
    String why = ended.hasError() ? ": " + ErrorText.of(ended.getError()) : "";
    output.printNote("run %s ended as %s%s".formatted(ended.getRunId(), status(ended), why));
    return ExitCode.NOT_COMPLETED;
  }

  private static String status(Workflow run) {
    return RunText.status(run.getStatus());
  }
}
