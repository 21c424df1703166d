package dev.kagzi.cli;

import dev.kagzi.protocol.v1.ListWorkflowsRequest;
import dev.kagzi.protocol.v1.WorkflowStatus;
import dev.kagzi.sdk.RunStatus;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which runs a list shows, or a command acts on. */
final class RunFilterOptions {

  @Option(
      names = "--status",
      paramLabel = "STATUS",
      split = ",",
      description = "Only these: ${COMPLETION-CANDIDATES}.")
  private List<RunStatus> statuses = List.of();

  @Option(names = "--type", paramLabel = "NAME", description = "Only runs of this type.")
  private @Nullable String type;

  @Option(
      names = "--of-version",
      paramLabel = "VERSION",
      description = "Only runs of this version of their type.")
  private @Nullable String version;

  @Option(names = "--queue", paramLabel = "NAME", description = "Only runs of this task queue.")
  private @Nullable String queue;

  @Option(
      names = "--schedule",
      paramLabel = "NAME-OR-ID",
      description = "Only runs of this schedule.")
  private @Nullable String schedule;

  @Option(
      names = "--parent",
      paramLabel = "RUN",
      description = "Only runs that this run has started.")
  private @Nullable String parent;

  @Option(names = "--top-level", description = "Only runs that no other run has started.")
  private boolean topLevel;

  @Option(
      names = "--blocked",
      description =
          "Only runs that are blocked: the code of their workers does not match what is recorded.")
  private boolean blocked;

  @Option(
      names = "--since",
      paramLabel = "TIME",
      description =
          "Only runs created since this time: 30m, 2h, 7d ago, a day, or a time in RFC 3339.")
  private @Nullable String since;

  boolean isBlocked() {
    return blocked;
  }

  boolean isEmpty() {
    return statuses.isEmpty()
        && !topLevel
        && !blocked
        && Stream.of(type, version, queue, schedule, parent, since).allMatch(each -> each == null);
  }

  /**
   * Returns a request for the runs that match.
   *
   * @param otherwise the statuses if none is given; empty for all
   */
  ListWorkflowsRequest.Builder request(
      RemoteCommand command, RemoteServer server, Collection<RunStatus> otherwise) {
    ListWorkflowsRequest.Builder filter =
        ListWorkflowsRequest.newBuilder().setNamespace(server.namespace());
    for (RunStatus status : statuses.isEmpty() ? otherwise : statuses) {
      filter.addStatuses(WorkflowStatus.valueOf("WORKFLOW_STATUS_" + status));
    }
    RemoteCommand.setIfGiven(type, filter::setWorkflowType);
    RemoteCommand.setIfGiven(version, filter::setVersion);
    RemoteCommand.setIfGiven(queue, filter::setTaskQueue);
    RemoteCommand.setIfGiven(schedule, each -> filter.setScheduleId(server.scheduleId(each)));
    RemoteCommand.setIfGiven(parent, each -> filter.setParentRunId(server.runId(each)));
    RemoteCommand.setIfGiven(
        since, each -> filter.setCreatedAfter(TimeOption.readPast(command, "--since", each)));
    return filter.setTopLevel(topLevel).setBlocked(blocked);
  }
}
