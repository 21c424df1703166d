package dev.kagzi.sdk;

import dev.kagzi.protocol.v1.ListWorkflowSchedulesRequest;
import dev.kagzi.protocol.v1.ListWorkflowSchedulesResponse;
import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.protocol.v1.PreviewScheduleRequest;
import dev.kagzi.protocol.v1.WorkflowScheduleServiceGrpc;
import dev.kagzi.sdk.internal.wire.Connection;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** A query for schedules: set filters, then call {@link #stream}. Not thread-safe. */
public final class Schedules {
  private static final int PAGE_SIZE = 100;

  private final Connection connection;
  private final ListWorkflowSchedulesRequest.Builder request;

  Schedules(Connection connection) {
    this.connection = connection;
    this.request = ListWorkflowSchedulesRequest.newBuilder().setNamespace(connection.namespace());
  }

  /** Selects schedules whose runs go to this task queue. */
  public Schedules queue(String queue) {
    request.setTaskQueue(queue);
    return this;
  }

  /** Selects schedules that start runs of this workflow type. */
  public Schedules type(WorkflowType<?, ?> type) {
    request.setWorkflowType(type.name());
    return this;
  }

  /** Selects schedules that are enabled (true) or paused (false). */
  public Schedules enabled(boolean enabled) {
    request.setEnabled(enabled);
    return this;
  }

  /**
   * Returns all schedules that match, newest first. The call fetches the first page; the others are
   * fetched while the stream is read.
   */
  public Stream<ScheduleInfo> stream() {
    return Stream.iterate(
            Optional.of(page("")),
            Optional::isPresent,
            last ->
                last.filter(page -> page.getPage().getHasMore())
                    .map(page -> page(page.getPage().getNextPageToken())))
        .flatMap(page -> page.orElseThrow().getSchedulesList().stream())
        .map(ProtoMapper::schedule);
  }

  private ListWorkflowSchedulesResponse page(String token) {
    PageRequest.Builder page = PageRequest.newBuilder().setPageSize(PAGE_SIZE).setPageToken(token);
    return connection.call(
        WorkflowScheduleServiceGrpc.getListWorkflowSchedulesMethod(),
        request.setPage(page).build());
  }

  /**
   * Returns the next times at which a cron expression fires.
   *
   * @param zone IANA name of the time zone
   * @param count 1 to 1,000
   * @throws RequestRefusedException if the expression is invalid or never fires again
   */
  public List<Instant> next(String cron, String zone, int count) {
    return next(connection, cron, zone, count);
  }

  static List<Instant> next(Connection connection, String cron, String zone, int count) {
    PreviewScheduleRequest request =
        PreviewScheduleRequest.newBuilder()
            .setCronExpr(cron)
            .setTimeZone(zone)
            .setCount(count)
            .build();
    return connection
        .call(WorkflowScheduleServiceGrpc.getPreviewScheduleMethod(), request)
        .getFireTimesList()
        .stream()
        .map(ProtoMapper::instant)
        .toList();
  }
}
