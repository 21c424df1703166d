package dev.kagzi.cli;

import dev.kagzi.protocol.v1.ListWorkflowsRequest;
import dev.kagzi.protocol.v1.Workflow;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The runs that matched a command's filters when it began, without their payloads. */
final class MatchingRuns {
  private final ListWorkflowsRequest filter;
  private final Map<String, Workflow> byId = new LinkedHashMap<>();
  private final Map<String, Workflow> byRetried = new HashMap<>();

  private MatchingRuns(ListWorkflowsRequest filter, List<Workflow> runs) {
    this.filter = filter;
    for (Workflow run : runs) {
      byId.put(run.getRunId(), run);
      if (run.hasRetryOf()) {
        // The list is newest first, and the newest retry counts.
        byRetried.putIfAbsent(run.getRetryOf(), run);
      }
    }
  }

  /** Reads all of them before the first change, so that the command changes what it counted. */
  static MatchingRuns read(RemoteServer server, ListWorkflowsRequest.Builder request) {
    List<Workflow> runs =
        ListOptions.readAll(
                page -> WorkflowList.page(server, request.setPage(page).build()),
                MatchingRuns::withoutPayloads)
            .items();
    return new MatchingRuns(request.build(), runs);
  }

  /** Drops the payloads, because a command may hold a million runs in memory. */
  static Workflow withoutPayloads(Workflow run) {
    return run.toBuilder()
        .clearInput()
        .clearOutput()
        .clearError()
        .clearBlockedBy()
        .clearHeaders()
        .clearRetryPolicy()
        .build();
  }

  List<Workflow> list() {
    return List.copyOf(byId.values());
  }

  boolean contains(String runId) {
    return byId.containsKey(runId);
  }

  /** Returns the matching run that was started as a retry of this one after its last failure. */
  Optional<Workflow> retryOf(Workflow run) {
    return Optional.ofNullable(byRetried.get(run.getRunId()))
        .filter(
            retry ->
                !MessageJson.instant(retry.getCreatedAt())
                    .isBefore(MessageJson.instant(run.getFinishedAt())));
  }

  /**
   * Returns why a listed run no longer matches; empty if it does. Only what can change is compared:
   * its status, whether it is blocked, and the attempt of an ended run.
   */
  Optional<String> change(RemoteServer server, Workflow listed) {
    Optional<Workflow> found =
        RemoteServer.ifFound(() -> WorkflowGet.request(server, listed.getRunId()));
    if (found.isEmpty()) {
      return Optional.of("no longer exists");
    }
    Workflow now = found.get();
    if (!filter.getStatusesList().isEmpty()
        && !filter.getStatusesList().contains(now.getStatus())) {
      return Optional.of("no longer matches: it is " + RunText.status(now.getStatus()));
    }
    if (filter.getBlocked() && !RunText.isBlocked(now)) {
      return Optional.of("no longer matches: it is not blocked");
    }
    return listed.hasFinishedAt() && now.getAttempts() != listed.getAttempts()
        ? Optional.of("no longer matches: it was resumed and has ended again")
        : Optional.empty();
  }
}
