package dev.kagzi.cli;

import dev.kagzi.protocol.v1.UpdateWorkflowScheduleRequest;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(name = "update", description = "Updates the given options of a schedule.")
final class ScheduleUpdate extends ScheduleCommand.OfOne {

  @Option(names = "--name", paramLabel = "NAME", description = "Its new name.")
  private @Nullable String name;

  @Mixin private ScheduleOptions wanted = new ScheduleOptions();

  @Option(
      names = "--next",
      paramLabel = "TIME",
      description = "Overrides the next slot; later ones follow the expression.")
  private @Nullable String next;

  @Override
  int run(RemoteServer server, Output answer) {
    UpdateWorkflowScheduleRequest.Builder request =
        UpdateWorkflowScheduleRequest.newBuilder()
            .setNamespace(server.namespace())
            .setOverlapPolicy(wanted.policy());
    ifSaid(name, request::setName);
    ifSaid(wanted.workflow, request::setWorkflowType);
    ifSaid(wanted.queue, request::setTaskQueue);
    ifSaid(wanted.cron, request::setCronExpr);
    ifSaid(wanted.zone, request::setTimeZone);
    ifSaid(wanted.payload(this), request::setInput);
    ifSaid(wanted.version, request::setVersion);
    ifSaid(wanted.maxCatchup, request::setMaxCatchup);
    ifSaid(wanted.jitterMs(this), request::setJitterMs);
    if (next != null) {
      request.setNextFireAt(TimeOption.read(this, "--next", next));
    }
    request.setScheduleId(found(server));
    return show(
        answer,
        server
            .call(() -> server.schedules().updateWorkflowSchedule(request.build()))
            .getSchedule());
  }
}
