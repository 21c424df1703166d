package dev.kagzi.sdk.internal.report;

import dev.kagzi.protocol.v1.ErrorCode;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.ReportRequest;
import dev.kagzi.protocol.v1.ReportResponse;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.sdk.internal.log.EventLog;
import dev.kagzi.sdk.internal.report.QueuedLane.Item;
import dev.kagzi.sdk.internal.wire.Backoff;
import dev.kagzi.sdk.internal.wire.Connection;
import dev.kagzi.sdk.internal.wire.RpcErrors;
import io.grpc.Context;
import io.grpc.stub.StreamObserver;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Sends the reports of all runs of one registered worker. Thread-safe. */
public final class Reporter {
  private static final EventLog log = EventLog.of(Reporter.class);
  private static final int CALLS_MAX = 2;
  private static final int CALL_BYTES_MAX = 3 << 20;
  private static final int CALL_ITEMS_MAX = 5_000;
  private static final long ANSWER_MS = 15_000;
  private static final int REFUSALS_MAX = 5;

  private final Connection connection;
  private final Supplier<String> workerId;
  private final ReentrantLock lock = new ReentrantLock();
  private final ArrayDeque<QueuedLane> readyLanes = new ArrayDeque<>();
  private final Backoff backoff = new Backoff(25, 2_000);
  private int callsInFlight;
  private boolean paused;

  /** Number of items that must be sent alone, because a call that contained them was refused. */
  private int sendAloneLeft;

  public Reporter(Connection connection, Supplier<String> workerId) {
    this.connection = connection;
    this.workerId = workerId;
  }

  public ReportLane lane(String runId, int epoch) {
    return new QueuedLane(this, runId, epoch);
  }

  void send(QueuedLane lane, List<Item> items) {
    lock.lock();
    try {
      lane.items.addAll(items);
      markReady(lane);
    } finally {
      lock.unlock();
    }
    sendReady();
  }

  private void markReady(QueuedLane lane) {
    if (!lane.ready && !lane.inFlight && !lane.items.isEmpty()) {
      lane.ready = true;
      readyLanes.add(lane);
    }
  }

  private void sendReady() {
    for (List<Item> batch = nextBatch(); batch != null; batch = nextBatch()) {
      send(batch);
    }
  }

  private @Nullable List<Item> nextBatch() {
    lock.lock();
    try {
      if (paused || callsInFlight == CALLS_MAX || readyLanes.isEmpty()) {
        return null;
      }
      callsInFlight++;
      int itemsMax = sendAloneLeft > 0 ? 1 : CALL_ITEMS_MAX;
      List<Item> batch = new ArrayList<>();
      int bytes = 0;
      while (!readyLanes.isEmpty() && batch.size() < itemsMax && bytes < CALL_BYTES_MAX) {
        bytes = takeLane(readyLanes.removeFirst(), batch, bytes, itemsMax);
      }
      return batch;
    } finally {
      lock.unlock();
    }
  }

  // Items that do not fit stay in their lane, which becomes ready again when this call is answered.
  private static int takeLane(QueuedLane lane, List<Item> batch, int bytesBefore, int itemsMax) {
    int bytes = bytesBefore;
    lane.ready = false;
    lane.inFlight = true;
    do {
      Item item = lane.items.removeFirst();
      batch.add(item);
      bytes += item.bytes;
    } while (!lane.items.isEmpty()
        && batch.size() < itemsMax
        && bytes + lane.items.getFirst().bytes <= CALL_BYTES_MAX);
    return bytes;
  }

  private void send(List<Item> batch) {
    ReportRequest.Builder request =
        ReportRequest.newBuilder().setNamespace(connection.namespace()).setWorkerId(workerId.get());
    for (Item item : batch) {
      request.addItems(item.message);
    }
    try {
      Context.ROOT.run(
          () -> connection.workers(ANSWER_MS).report(request.build(), new Answer(batch)));
    } catch (RuntimeException e) {
      // An interceptor of the application may throw.
      failed(batch, e);
    }
  }

  private final class Answer implements StreamObserver<ReportResponse> {
    private final List<Item> batch;
    private @Nullable ReportResponse response;

    Answer(List<Item> batch) {
      this.batch = batch;
    }

    @Override
    public void onNext(ReportResponse response) {
      this.response = response;
    }

    @Override
    public void onError(Throwable error) {
      failed(batch, error);
    }

    @Override
    public void onCompleted() {
      ReportResponse answered = response;
      if (answered == null || answered.getResultsCount() != batch.size()) {
        failed(
            batch,
            new IllegalStateException(
                "report: results without an item, or items without a result (expected: one result per item)"));
      } else {
        answered(batch, answered.getResultsList());
      }
    }
  }

  private void answered(List<Item> batch, List<ReportResult> results) {
    lock.lock();
    try {
      callsInFlight--;
      backoff.reset();
      sendAloneLeft = Math.max(0, sendAloneLeft - batch.size());
      for (Item item : batch) {
        item.lane.inFlight = false;
        markReady(item.lane);
      }
    } finally {
      lock.unlock();
    }
    for (int i = 0; i < batch.size(); i++) {
      notifyListener(batch.get(i), results.get(i));
    }
    sendReady();
  }

  private static void notifyListener(Item item, ReportResult result) {
    try {
      item.listener.answered(result);
    } catch (RuntimeException | Error e) {
      // A failing listener must not keep the answers from the others.
      log.error("the answer to a report could not be handled")
          .with("run", item.message.getRunId())
          .cause(e)
          .write();
    }
  }

  private void failed(List<Item> batch, Throwable error) {
    ReportResult finalResult = batch.size() == 1 ? finalResult(batch.getFirst(), error) : null;
    if (finalResult != null) {
      answered(batch, List.of(finalResult));
      return;
    }
    lock.lock();
    try {
      callsInFlight--;
      requeue(batch);
      if (isAboutItems(error) && batch.size() > 1) {
        sendAloneLeft = Math.max(sendAloneLeft, batch.size());
      }
      pause(error);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns the final result of an item that makes its call fail; null to send it again. An invalid
   * item is refused. An item that makes the server fail is dropped with its claim: the lease ends,
   * and another claim retries. A run must not fail because of its server.
   */
  private static @Nullable ReportResult finalResult(Item only, Throwable error) {
    return switch (RpcErrors.code(error)) {
      case INVALID_ARGUMENT, OUT_OF_RANGE -> refused(error);
      case RESOURCE_EXHAUSTED ->
          only.bytes > CALL_BYTES_MAX && RpcErrors.isTooLarge(error) ? refused(error) : null;
      case INTERNAL, UNKNOWN, DATA_LOSS ->
          isAboutItems(error) && ++only.refusals >= REFUSALS_MAX ? dropped(only, error) : null;
      default -> null;
    };
  }

  // Other errors (an expired token, a server that is being replaced) are temporary.
  private static boolean isAboutItems(Throwable error) {
    return switch (RpcErrors.code(error)) {
      case INVALID_ARGUMENT, OUT_OF_RANGE, DATA_LOSS -> true;
      case INTERNAL, UNKNOWN -> !RpcErrors.isTransient(error);
      default -> false;
    };
  }

  private static ReportResult refused(Throwable error) {
    return ReportResult.newBuilder()
        .setRefused(
            ErrorDetail.newBuilder()
                .setCode(ErrorCode.ERROR_CODE_INVALID_ARGUMENT)
                .setNonRetryable(true)
                .setMessage(String.valueOf(RpcErrors.toException("report", error).getMessage())))
        .build();
  }

  private static ReportResult dropped(Item item, Throwable error) {
    log.warn("server failed to process a report several times, its claim is dropped")
        .with("run", item.message.getRunId())
        .with("error", error.getMessage())
        .cause(error)
        .write();
    return ReportResult.newBuilder()
        .setClaimLost(ReportResult.ClaimLost.getDefaultInstance())
        .build();
  }

  private void requeue(List<Item> batch) {
    for (Item item : batch.reversed()) {
      item.lane.items.addFirst(item);
      item.lane.inFlight = false;
    }
    for (Item item : batch) {
      markReady(item.lane);
    }
  }

  private void pause(Throwable error) {
    if (paused) {
      return;
    }
    paused = true;
    long pauseMs = backoff.nextMs();
    log.debug("report not answered, it will be sent again")
        .with("pause_ms", pauseMs)
        .with("error", error.getMessage())
        .cause(error)
        .write();
    connection.after(pauseMs, this::resume);
  }

  private void resume() {
    lock.lock();
    try {
      paused = false;
    } finally {
      lock.unlock();
    }
    sendReady();
  }
}
