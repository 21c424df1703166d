package dev.kagzi.cli;

import dev.kagzi.protocol.v1.UpdateWorkflowScheduleRequest;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(name = "update", description = "Changes what is named of a schedule.")
final class ScheduleUpdate extends ScheduleCommand.OfOne {

  @Option(names = "--name", paramLabel = "NAME", description = "Its new name.")
  private @Nullable String name;

  @Mixin private ScheduleWanted wanted = new ScheduleWanted();

  @Option(
      names = "--next",
      paramLabel = "TIME",
      description = "Its next slot, whatever the expression says.")
  private @Nullable String next;

  @Override
  int run(RemoteServer server, Answer answer) {
    UpdateWorkflowScheduleRequest.Builder request =
        UpdateWorkflowScheduleRequest.newBuilder()
            .setNamespace(server.namespace())
            .setOverlapPolicy(wanted.policy());
    ScheduleCreate.ifSaid(name, request::setName);
    ScheduleCreate.ifSaid(wanted.workflow, request::setWorkflowType);
    ScheduleCreate.ifSaid(wanted.queue, request::setTaskQueue);
    ScheduleCreate.ifSaid(wanted.cron, request::setCronExpr);
    ScheduleCreate.ifSaid(wanted.zone, request::setTimeZone);
    ScheduleCreate.ifSaid(wanted.payload(this), request::setInput);
    ScheduleCreate.ifSaid(wanted.version, request::setVersion);
    ScheduleCreate.ifSaid(wanted.maxCatchup, request::setMaxCatchup);
    ScheduleCreate.ifSaid(wanted.jitterMs(this), request::setJitterMs);
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
