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
 * A list of runs to be fetched, newest first: set filters, then {@link #page} or {@link #stream}.
 * Not thread-safe.
 */
public final class RunList {
  private final RunCalls runs;
  private final ListWorkflowsRequest.Builder request = ListWorkflowsRequest.newBuilder();
  private final PageRequest.Builder page = PageRequest.newBuilder();

  RunList(RunCalls runs) {
    this.runs = runs;
  }

  /** Runs with one of these. */
  public RunList status(RunStatus... statuses) {
    request.clearStatuses();
    for (RunStatus status : statuses) {
      request.addStatuses(ProtoMapper.status(status));
    }
    return this;
  }

  public RunList type(WorkflowType<?, ?> type) {
    return type(type.name());
  }

  public RunList type(String type) {
    request.setWorkflowType(type);
    return this;
  }

  public RunList queue(String queue) {
    request.setTaskQueue(queue);
    return this;
  }

  public RunList version(String version) {
    request.setVersion(version);
    return this;
  }

  /** Runs that were started with this id: {@link WorkflowStarter#id}. */
  public RunList workflowId(String workflowId) {
    request.setExternalId(workflowId);
    return this;
  }

  /** Children of this run. */
  public RunList parent(String runId) {
    request.setParentRunId(runId);
    return this;
  }

  /** Runs that no other run has started. */
  public RunList topLevel() {
    request.setTopLevel(true);
    return this;
  }

  /** Runs that cannot go on with the code that their workers have. */
  public RunList blocked() {
    request.setBlocked(true);
    return this;
  }

  /** Runs that this schedule has started. */
  public RunList schedule(String scheduleId) {
    request.setScheduleId(scheduleId);
    return this;
  }

  /** Runs that were created then or later. */
  public RunList createdAfter(Instant instant) {
    request.setCreatedAfter(ProtoMapper.timestamp(instant));
    return this;
  }

  /** Runs that were created earlier. */
  public RunList createdBefore(Instant instant) {
    request.setCreatedBefore(ProtoMapper.timestamp(instant));
    return this;
  }

  /** How many runs a page has at most; the server's default if not set. */
  public RunList pageSize(int size) {
    if (size < 1) {
      throw new IllegalArgumentException("pageSize: " + size + " (expected: >= 1)");
    }
    page.setPageSize(size);
    return this;
  }

  /** Goes on from another page: {@link RunPage#nextPageToken}, {@link RunPage#prevPageToken}. */
  public RunList pageToken(String token) {
    page.setPageToken(token);
    return this;
  }

  /**
   * Also counts how many runs match in all. Exact where only status, type, queue and version are
   * asked for; with other filters up to 100,000 are counted.
   */
  public RunList totalCount() {
    page.setIncludeTotalCount(true);
    return this;
  }

  /** Also fetches payloads over 4 KiB: {@link RunInfo#output}. */
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

  /** All runs that match, fetched page by page as the stream is read. */
  public Stream<RunInfo> stream() {
    return Stream.iterate(
            Optional.of(page()),
            Optional::isPresent,
            last -> last.orElseThrow().nextPageToken().map(token -> pageToken(token).page()))
        .flatMap(last -> last.orElseThrow().runs().stream());
  }
}
