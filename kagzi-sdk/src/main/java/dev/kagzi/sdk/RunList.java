package dev.kagzi.sdk;

import dev.kagzi.protocol.v1.ListWorkflowsRequest;
import dev.kagzi.protocol.v1.ListWorkflowsResponse;
import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.sdk.internal.client.Runs;
import dev.kagzi.sdk.internal.wire.Protos;
import java.time.Instant;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A list of runs to be fetched, newest first: set filters, then {@link #page} or {@link #stream}.
 * Not thread-safe.
 */
public final class RunList {
  private final Runs runs;
  private final ListWorkflowsRequest.Builder request = ListWorkflowsRequest.newBuilder();
  private final PageRequest.Builder page = PageRequest.newBuilder();

  RunList(Runs runs) {
    this.runs = runs;
  }

  public RunList status(RunStatus status) {
    request.setStatusFilter(Protos.status(status));
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

  public RunList createdAfter(Instant instant) {
    request.setCreatedAfter(Protos.timestamp(instant));
    return this;
  }

  public RunList createdBefore(Instant instant) {
    request.setCreatedBefore(Protos.timestamp(instant));
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

  /** Goes on where an earlier page ended: {@link RunPage#nextPageToken}. */
  public RunList pageToken(String token) {
    page.setPageToken(token);
    return this;
  }

  /** Also counts how many runs match in all. */
  public RunList totalCount() {
    page.setIncludeTotalCount(true);
    return this;
  }

  /** Fetches one page. */
  public RunPage page() {
    boolean counted = page.getIncludeTotalCount();
    ListWorkflowsResponse response = runs.list(request.setPage(page));
    String next = response.getPage().getNextPageToken();
    return new RunPage(
        response.getWorkflowsList().stream().map(Protos::runInfo).toList(),
        next.isEmpty() ? Optional.empty() : Optional.of(next),
        counted ? Optional.of(response.getPage().getTotalCount()) : Optional.empty());
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
