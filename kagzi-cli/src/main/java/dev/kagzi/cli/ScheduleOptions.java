package dev.kagzi.cli;

import dev.kagzi.protocol.v1.OverlapPolicy;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.sdk.Overlap;
import dev.kagzi.server.config.OptionType;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that create or update a schedule; null if not given. */
final class ScheduleOptions {
  private static final OptionType.Time JITTER = new OptionType.Time("0s", "7d");

  @Option(names = "--workflow", paramLabel = "TYPE", description = "The type of its runs.")
  @Nullable String workflow;

  @Option(names = "--queue", paramLabel = "NAME", description = "The task queue of its runs.")
  @Nullable String queue;

  @Option(names = "--cron", paramLabel = "EXPR", description = "When it fires: a cron expression.")
  @Nullable String cron;

  @Option(
      names = "--zone",
      paramLabel = "ZONE",
      description = "The expression's time zone, for example Europe/Berlin (default: UTC).")
  @Nullable String zone;

  @Option(
      names = "--input",
      paramLabel = "JSON|@FILE",
      description = "The input of its runs: JSON, or @ and a file with JSON.")
  private @Nullable String input;

  @Option(
      names = "--workflow-version",
      paramLabel = "VERSION",
      description = "The workflow version of its runs.")
  @Nullable String version;

  @Option(
      names = "--overlap",
      paramLabel = "POLICY",
      description =
          "What happens to a slot while an earlier run has not ended: ${COMPLETION-CANDIDATES}"
              + " (default: ALLOW).")
  private @Nullable Overlap overlap;

  @Option(
      names = "--max-catchup",
      paramLabel = "N",
      description =
          "How many late slots still start a run (default: 100). With 0 only slots that are due now"
              + " start a run.")
  @Nullable Integer maxCatchup;

  @Option(
      names = "--jitter",
      paramLabel = "TIME",
      description = "The maximum delay of a run after its slot, for example 30s.")
  private @Nullable String jitter;

  @Nullable Payload payload(RemoteCommand command) {
    return input == null ? null : JsonInput.read(command, input);
  }

  @Nullable Long jitterMs(RemoteCommand command) {
    if (jitter == null) {
      return null;
    }
    try {
      return ((Duration) JITTER.read(jitter)).toMillis();
    } catch (IllegalArgumentException e) {
      throw command.usageError("--jitter", jitter, String.valueOf(e.getMessage()));
    }
  }

  OverlapPolicy policy() {
    return overlap == null
        ? OverlapPolicy.OVERLAP_POLICY_UNSPECIFIED
        : OverlapPolicy.valueOf("OVERLAP_POLICY_" + overlap);
  }
}
