package dev.kagzi.sdk;

import dev.kagzi.protocol.v1.AdminServiceGrpc;
import dev.kagzi.protocol.v1.DrainWorkerRequest;
import dev.kagzi.protocol.v1.ForceOfflineWorkerRequest;
import dev.kagzi.protocol.v1.GetQueueDepthRequest;
import dev.kagzi.protocol.v1.GetStatsRequest;
import dev.kagzi.protocol.v1.ListQueuesRequest;
import dev.kagzi.protocol.v1.ListQueuesResponse;
import dev.kagzi.protocol.v1.ListWorkerEventsRequest;
import dev.kagzi.protocol.v1.ListWorkerEventsResponse;
import dev.kagzi.protocol.v1.ListWorkersRequest;
import dev.kagzi.protocol.v1.ListWorkersResponse;
import dev.kagzi.protocol.v1.PageInfo;
import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.sdk.internal.wire.AdminMapper;
import dev.kagzi.sdk.internal.wire.Connection;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Operations for operators: counts, queues and workers of the client's namespace. The workers of
 * other programs are included. Thread-safe.
 *
 * <p>A list fetches its first page with the call and the others while the stream is read. A worker
 * that does not exist in the namespace fails the call with code {@code NOT_FOUND}: {@link
 * RequestRefusedException#code}.
 *
 * <pre>{@code
 * kagzi.admin().queues().filter(queue -> queue.pendingRuns() > 1_000).forEach(this::report);
 * }</pre>
 */
public final class Admin {
  private static final int PAGE_SIZE = 100;

  private final Connection connection;

  Admin(Connection connection) {
    this.connection = connection;
  }

  /** Returns how many runs, workers and schedules the namespace has. The numbers are exact. */
  public NamespaceStats stats() {
    GetStatsRequest request =
        GetStatsRequest.newBuilder().setNamespace(connection.namespace()).build();
    return AdminMapper.stats(connection.call(AdminServiceGrpc.getGetStatsMethod(), request));
  }

  /** Lists the task queues that have open runs or workers, by name. */
  public Stream<QueueInfo> queues() {
    return pages(this::queues, ListQueuesResponse::getPage)
        .flatMap(page -> page.getQueuesList().stream())
        .map(AdminMapper::queue);
  }

  /**
   * Returns how many runs of all queues have not ended. Reads only counts, so it is cheaper than
   * {@link #queues}, which also finds the oldest run and the workers of each queue.
   */
  public QueueDepth queueDepth() {
    return depth(GetQueueDepthRequest.newBuilder().setNamespace(connection.namespace()).build());
  }

  /** Returns how many runs of a queue have not ended: zeros for a queue that nobody has used. */
  public QueueDepth queueDepth(String queue) {
    return depth(
        GetQueueDepthRequest.newBuilder()
            .setNamespace(connection.namespace())
            .setTaskQueue(queue)
            .build());
  }

  private QueueDepth depth(GetQueueDepthRequest request) {
    return AdminMapper.depth(connection.call(AdminServiceGrpc.getGetQueueDepthMethod(), request));
  }

  private ListQueuesResponse queues(PageRequest page) {
    ListQueuesRequest request =
        ListQueuesRequest.newBuilder().setNamespace(connection.namespace()).setPage(page).build();
    return connection.call(AdminServiceGrpc.getListQueuesMethod(), request);
  }

  /**
   * Lists all workers by queue, then by the time of their registration, also those that went
   * offline, until they are purged.
   */
  public Stream<WorkerInfo> workers() {
    return pages(this::workers, ListWorkersResponse::getPage)
        .flatMap(page -> page.getWorkersList().stream())
        .map(AdminMapper::worker);
  }

  private ListWorkersResponse workers(PageRequest page) {
    ListWorkersRequest request =
        ListWorkersRequest.newBuilder().setNamespace(connection.namespace()).setPage(page).build();
    return connection.call(AdminServiceGrpc.getListWorkersMethod(), request);
  }

  /** Lists the changes of a worker's status with their reasons, latest first. */
  public Stream<WorkerEvent> workerEvents(String workerId) {
    return pages(page -> workerEvents(workerId, page), ListWorkerEventsResponse::getPage)
        .flatMap(page -> page.getEventsList().stream())
        .map(AdminMapper::workerEvent);
  }

  private ListWorkerEventsResponse workerEvents(String workerId, PageRequest page) {
    ListWorkerEventsRequest request =
        ListWorkerEventsRequest.newBuilder()
            .setNamespace(connection.namespace())
            .setWorkerId(workerId)
            .setPage(page)
            .build();
    return connection.call(AdminServiceGrpc.getListWorkerEventsMethod(), request);
  }

  /**
   * Drains a worker: it gets no new runs, and leaves when its runs have finished. A worker of this
   * SDK releases unfinished runs after its {@link WorkerBuilder#drainTimeout}, and other workers
   * continue them.
   *
   * @return false if the worker was already offline
   */
  public boolean drainWorker(String workerId) {
    DrainWorkerRequest request =
        DrainWorkerRequest.newBuilder()
            .setNamespace(connection.namespace())
            .setWorkerId(workerId)
            .build();
    return connection.call(AdminServiceGrpc.getDrainWorkerMethod(), request).getSuccess();
  }

  /**
   * Sets a worker offline that is dead or does not react, and gives its runs to other workers. Its
   * later reports about these runs are refused. To stop a worker that reacts, use {@link
   * #drainWorker}.
   *
   * @param reason recorded in the worker's events
   * @return how many runs the worker held
   */
  public int forceWorkerOffline(String workerId, String reason) {
    ForceOfflineWorkerRequest request =
        ForceOfflineWorkerRequest.newBuilder()
            .setNamespace(connection.namespace())
            .setWorkerId(workerId)
            .setReason(reason)
            .build();
    return connection.call(AdminServiceGrpc.getForceOfflineWorkerMethod(), request).getFreedRuns();
  }

  private static <M> Stream<M> pages(Function<PageRequest, M> list, Function<M, PageInfo> info) {
    return Stream.iterate(
            Optional.of(list.apply(page(""))),
            Optional::isPresent,
            last ->
                last.map(info)
                    .filter(PageInfo::getHasMore)
                    .map(page -> list.apply(page(page.getNextPageToken()))))
        .map(Optional::orElseThrow);
  }

  private static PageRequest page(String token) {
    return PageRequest.newBuilder().setPageSize(PAGE_SIZE).setPageToken(token).build();
  }
}
