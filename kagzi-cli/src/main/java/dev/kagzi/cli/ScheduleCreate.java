package dev.kagzi.cli;

import dev.kagzi.protocol.v1.CreateWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.WorkflowSchedule;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(name = "create", description = "Creates a schedule.")
final class ScheduleCreate extends RemoteCommand {

  @Option(names = "--name", paramLabel = "NAME", required = true, description = "Its name.")
  private String name = "";

  @Mixin private ScheduleOptions wanted = new ScheduleOptions();

  @Option(
      names = "--paused",
      description = "Create it paused: it does not fire until it is resumed.")
  private boolean paused;

  @Option(
      names = "--or-update",
      description = "If a schedule with this name exists, it is updated.")
  private boolean orUpdate;

  @Override
  int run(RemoteServer server, Output output) {
    CreateWorkflowScheduleRequest.Builder request =
        CreateWorkflowScheduleRequest.newBuilder()
            .setNamespace(server.namespace())
            .setName(name)
            .setWorkflowType(required("--workflow", wanted.workflow))
            .setTaskQueue(required("--queue", wanted.queue))
            .setCronExpr(required("--cron", wanted.cron))
            .setOverlapPolicy(wanted.policy())
            .setOrUpdate(orUpdate);
    setIfGiven(wanted.zone, request::setTimeZone);
    setIfGiven(wanted.payload(this), request::setInput);
    setIfGiven(wanted.version, request::setVersion);
    setIfGiven(wanted.maxCatchup, request::setMaxCatchup);
    setIfGiven(wanted.jitterMs(this), request::setJitterMs);
    if (paused) {
      request.setEnabled(false);
    }
    WorkflowSchedule made =
        server.call(() -> server.schedules().createWorkflowSchedule(request.build())).getSchedule();
    return ScheduleCommand.OfOne.show(output, made);
  }

  private String required(String option, @Nullable String value) {
    if (value == null) {
      throw usageError(option, "none", "a value");
    }
    return value;
  }
}
