package dev.kagzi.sdk;

import dev.kagzi.protocol.v1.ListWorkflowsRequest;
import dev.kagzi.protocol.v1.ListWorkflowsResponse;
import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.sdk.internal.client.RunCalls;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import java.time.Instant;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A query for runs, newest first: set filters, then call {@link #page} or {@link #stream}. All
 * filters must match. Not thread-safe.
 *
 * <pre>{@code
 * kagzi.list().type(PROCESS_ORDER).status(RunStatus.FAILED).stream().forEach(System.out::println);
 * }</pre>
 */
public final class RunList {
  private final RunCalls runs;
  private final ListWorkflowsRequest.Builder request = ListWorkflowsRequest.newBuilder();
  private final PageRequest.Builder page = PageRequest.newBuilder();

  RunList(RunCalls runs) {
    this.runs = runs;
  }

  /** Selects runs with one of these statuses. */
  public RunList status(RunStatus... statuses) {
    request.clearStatuses();
    for (RunStatus status : statuses) {
      request.addStatuses(ProtoMapper.status(status));
    }
    return this;
  }

  /** Selects runs of this workflow type, in all versions. */
  public RunList type(WorkflowType<?, ?> type) {
    return type(type.name());
  }

  /** Selects runs of the workflow type with this name, in all versions. */
  public RunList type(String type) {
    request.setWorkflowType(type);
    return this;
  }

  /** Selects runs of this task queue. */
  public RunList queue(String queue) {
    request.setTaskQueue(queue);
    return this;
  }

  /** Selects runs of this version of their type. */
  public RunList version(String version) {
    request.setVersion(version);
    return this;
  }

  /** Selects runs that were started with this id: {@link WorkflowStarter#id}. */
  public RunList workflowId(String workflowId) {
    request.setExternalId(workflowId);
    return this;
  }

  /**
   * Selects runs that this run started: children, detached ones too, and runs that its steps
   * started with a client.
   */
  public RunList parent(String runId) {
    request.setParentRunId(runId);
    return this;
  }

  /** Selects runs that no other run started. */
  public RunList topLevel() {
    request.setTopLevel(true);
    return this;
  }

  /**
   * Selects blocked runs: PENDING runs that a worker released because it cannot continue them, for
   * example because of changed code. {@link RunInfo#failure} has the reason.
   */
  public RunList blocked() {
    request.setBlocked(true);
    return this;
  }

  /** Selects runs that this schedule ({@link ScheduleInfo#id}) started. */
  public RunList schedule(String scheduleId) {
    request.setScheduleId(scheduleId);
    return this;
  }

  /** Selects runs that were created at this time or later. */
  public RunList createdAfter(Instant instant) {
    request.setCreatedAfter(ProtoMapper.timestamp(instant));
    return this;
  }

  /** Selects runs that were created before this time. */
  public RunList createdBefore(Instant instant) {
    request.setCreatedBefore(ProtoMapper.timestamp(instant));
    return this;
  }

  /** Sets the maximum number of runs per page; the server's default if not set. */
  public RunList pageSize(int size) {
    if (size < 1) {
      throw new IllegalArgumentException("pageSize: " + size + " (expected: >= 1)");
    }
    page.setPageSize(size);
    return this;
  }

  /** Continues at another page: {@link RunPage#nextPageToken}, {@link RunPage#prevPageToken}. */
  public RunList pageToken(String token) {
    page.setPageToken(token);
    return this;
  }

  /**
   * Also counts all runs that match. The count is exact if only status, type, queue and version are
   * filtered; with other filters counting stops at 100,000.
   */
  public RunList totalCount() {
    page.setIncludeTotalCount(true);
    return this;
  }

  /** Also fetches payloads larger than 4 KiB: {@link RunInfo#output}. */
  public RunList payloads() {
    page.setIncludePayloads(true);
    return this;
  }

  /** Fetches one page. */
  public RunPage page() {
    boolean counted = page.getIncludeTotalCount();
    ListWorkflowsResponse response = runs.list(request.setPage(page));
    return new RunPage(
        response.getWorkflowsList().stream().map(run -> RunHandle.info(runs, run)).toList(),
        token(response.getPage().getNextPageToken()),
        token(response.getPage().getPrevPageToken()),
        counted ? Optional.of(response.getPage().getTotalCount()) : Optional.empty());
  }

  private static Optional<String> token(String token) {
    return token.isEmpty() ? Optional.empty() : Optional.of(token);
  }

  /**
   * Returns all runs that match, from the current page on. The call fetches the first page; the
   * others are fetched while the stream is read. Reading it moves this query to the last page: use
   * a new query for each stream.
   */
  public Stream<RunInfo> stream() {
    return Stream.iterate(
            Optional.of(page()),
            Optional::isPresent,
            last -> last.orElseThrow().nextPageToken().map(token -> pageToken(token).page()))
        .flatMap(last -> last.orElseThrow().runs().stream());
  }
}
