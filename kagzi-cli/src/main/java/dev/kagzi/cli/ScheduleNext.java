package dev.kagzi.cli;

import dev.kagzi.protocol.v1.PreviewScheduleRequest;
import dev.kagzi.protocol.v1.PreviewScheduleResponse;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(name = "next", description = "Shows the next times of an expression; saves nothing.")
final class ScheduleNext extends RemoteCommand {

  @Option(
      names = "--cron",
      paramLabel = "EXPR",
      required = true,
      description = "The cron expression.")
  private String cron = "";

  @Option(
      names = "--zone",
      paramLabel = "ZONE",
      defaultValue = "UTC",
      description = "Its time zone (default: ${DEFAULT-VALUE}).")
  private String zone = "";

  @Option(
      names = "--count",
      paramLabel = "N",
      defaultValue = "5",
      description = "How many times (default: ${DEFAULT-VALUE}).")
  private int count;

  @Override
  int run(RemoteServer server, Output output) {
    if (count < 1) {
      throw usageError("--count", Integer.toString(count), "at least 1");
    }
    PreviewScheduleRequest request =
        PreviewScheduleRequest.newBuilder()
            .setCronExpr(cron)
            .setTimeZone(zone)
            .setCount(count)
            .build();
    PreviewScheduleResponse times = server.call(() -> server.schedules().previewSchedule(request));
    output.print(times, () -> ScheduleText.times(times.getFireTimesList(), zone));
    return ExitCode.DONE;
  }
}
