package dev.kagzi.cli;

import com.google.protobuf.Timestamp;
import dev.kagzi.protocol.v1.BackfillScheduleRequest;
import dev.kagzi.protocol.v1.BackfillScheduleResponse;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(name = "backfill", description = "Starts runs for past slots that have none.")
final class ScheduleBackfill extends ScheduleCommand.OfOne {

  @Option(
      names = "--from",
      paramLabel = "TIME",
      required = true,
      description = "The start of the interval, for example 2026-01-31T09:00:00Z; inclusive.")
  private String from = "";

  @Option(
      names = "--to",
      paramLabel = "TIME",
      required = true,
      description = "The end of the interval; exclusive.")
  private String to = "";

  @Override
  int run(RemoteServer server, Output output) {
    Timestamp first = TimeOption.read(this, "--from", from);
    Timestamp end = TimeOption.read(this, "--to", to);
    BackfillScheduleRequest request =
        BackfillScheduleRequest.newBuilder()
            .setNamespace(server.namespace())
            .setScheduleId(scheduleId(server))
            .setFrom(first)
            .setTo(end)
            .build();
    BackfillScheduleResponse filled =
        server.call(() -> server.schedules().backfillSchedule(request));
    output.print(
        filled,
        () ->
            "%s started, %s already had a run"
                    .formatted(
                        Plural.of(filled.getStarted(), "run"),
                        Plural.of(filled.getExisted(), "slot"))
                + (filled.getConflicts() == 0
                    ? ""
                    : ", %s skipped: another active run has the id"
                        .formatted(Plural.of(filled.getConflicts(), "slot"))));
    return ExitCode.DONE;
  }
}
