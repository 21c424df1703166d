package dev.kagzi.cli;

import dev.kagzi.protocol.v1.DeleteWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.DeleteWorkflowScheduleResponse;
import dev.kagzi.protocol.v1.PauseWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.ResumeWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.TriggerWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.TriggerWorkflowScheduleResponse;
import dev.kagzi.protocol.v1.WorkflowSchedule;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
    name = "schedule",
    description = "Creates and controls schedules, which start runs by cron expressions.",
    synopsisSubcommandLabel = "COMMAND",
    footer = {
      "",
      "SCHEDULE is the name or the id of a schedule.",
      "EXPR has 5 fields (minute hour day-of-month month day-of-week), 6 with seconds first, 7 with"
          + " a year last, or is @hourly, @daily, @weekly, @monthly or @yearly."
    })
final class ScheduleCommand extends CommandGroup {

  /** A command about one schedule. */
  abstract static class OfOne extends RemoteCommand {

    @Parameters(paramLabel = "SCHEDULE", description = "The schedule's name or its id.")
    private String schedule = "";

    /** The name or id from the command line. */
    final String nameOrId() {
      return schedule;
    }

    /** Returns the id, which the server looks up. */
    final String scheduleId(RemoteServer server) {
      return server.schedule(schedule).getScheduleId();
    }

    static int show(Output output, WorkflowSchedule schedule) {
      output.print(schedule, () -> ScheduleText.details(schedule));
      return ExitCode.DONE;
    }
  }

  @Command(name = "get", description = "Shows a schedule.")
  static final class Get extends OfOne {
    @Override
    int run(RemoteServer server, Output output) {
      return show(output, server.schedule(nameOrId()));
    }
  }

  @Command(name = "why", description = "Explains why a schedule starts no run now.")
  static final class Why extends OfOne {
    @Override
    int run(RemoteServer server, Output output) {
      String id = scheduleId(server);
      return WorkflowWhy.print(output, "schedule " + nameOrId(), WorkflowWhy.explain(server, id));
    }
  }

  @Command(name = "pause", description = "Pauses a schedule: it does not fire.")
  static final class Pause extends OfOne {
    @Override
    int run(RemoteServer server, Output output) {
      PauseWorkflowScheduleRequest request =
          PauseWorkflowScheduleRequest.newBuilder()
              .setNamespace(server.namespace())
              .setScheduleId(scheduleId(server))
              .build();
      return show(
          output,
          server.call(() -> server.schedules().pauseWorkflowSchedule(request)).getSchedule());
    }
  }

  @Command(
      name = "resume",
      description = "Resumes a paused schedule, which then catches up on late slots.")
  static final class Resume extends OfOne {
    @Override
    int run(RemoteServer server, Output output) {
      ResumeWorkflowScheduleRequest request =
          ResumeWorkflowScheduleRequest.newBuilder()
              .setNamespace(server.namespace())
              .setScheduleId(scheduleId(server))
              .build();
      return show(
          output,
          server.call(() -> server.schedules().resumeWorkflowSchedule(request)).getSchedule());
    }
  }

  @Command(name = "trigger", description = "Starts a run of a schedule now, even if it is paused.")
  static final class Trigger extends OfOne {
    @Override
    int run(RemoteServer server, Output output) {
      TriggerWorkflowScheduleRequest request =
          TriggerWorkflowScheduleRequest.newBuilder()
              .setNamespace(server.namespace())
              .setScheduleId(scheduleId(server))
              .build();
      TriggerWorkflowScheduleResponse started =
          server.call(() -> server.schedules().triggerWorkflowSchedule(request));
      output.print(started, started::getRunId);
      return ExitCode.DONE;
    }
  }

  @Command(name = "delete", description = "Deletes a schedule; its runs are kept.")
  static final class Delete extends OfOne {
    @Override
    int run(RemoteServer server, Output output) {
      DeleteWorkflowScheduleRequest request =
          DeleteWorkflowScheduleRequest.newBuilder()
              .setNamespace(server.namespace())
              .setScheduleId(scheduleId(server))
              .build();
      DeleteWorkflowScheduleResponse gone =
          server.call(() -> server.schedules().deleteWorkflowSchedule(request));
      output.print(gone, () -> gone.getDeleted() ? gone.getMessage() : "");
      if (gone.getDeleted()) {
        return ExitCode.DONE;
      }
      output.printNote(gone.getMessage());
      return ExitCode.FAILED;
    }
  }
}
