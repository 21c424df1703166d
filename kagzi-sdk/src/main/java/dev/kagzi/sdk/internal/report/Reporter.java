package dev.kagzi.sdk.internal.report;

import dev.kagzi.protocol.v1.ErrorCode;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportRequest;
import dev.kagzi.protocol.v1.ReportResponse;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.sdk.internal.log.EventLog;
import dev.kagzi.sdk.internal.log.LoggedRun;
import dev.kagzi.sdk.internal.wire.Backoff;
import dev.kagzi.sdk.internal.wire.BatchSender;
import dev.kagzi.sdk.internal.wire.Connection;
import dev.kagzi.sdk.internal.wire.RpcErrors;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Sends the reports of all runs of one registered worker. Thread-safe. */
public final class Reporter extends BatchSender<Reporter.Report, ReportResponse, ReportResult> {
  private static final EventLog log = EventLog.of(Reporter.class);
  private static final int CALL_ITEMS_MAX = 5_000;
  private static final long ANSWER_MS = 15_000;
  private static final int REFUSALS_MAX = 5;

  private final Supplier<String> workerId;

  public Reporter(Connection connection, Supplier<String> workerId) {
    super(connection, "report", CALL_ITEMS_MAX, new Backoff(25, 2_000));
    this.workerId = workerId;
  }

  static final class Report extends Item<Report> {
    private final LoggedRun run;
    private final ReportItem message;
    private final ReportListener listener;

    /** How often a call with only this item was refused as a whole. */
    private int refusals;

    private Report(Lane<Report> lane, LoggedRun run, ReportItem message, ReportListener listener) {
      super(lane, message.getSerializedSize());
      this.run = run;
      this.message = message;
      this.listener = listener;
    }
  }

  public ReportLane lane(LoggedRun run, int epoch) {
    Lane<Report> lane = new Lane<>();
    return new ReportLane() {
      @Override
      public String runId() {
        return run.run();
      }

      @Override
      public ReportItem.Builder item() {
        return ReportItem.newBuilder().setRunId(run.run()).setEpoch(epoch);
      }

      @Override
      public void sendAll(List<ReportItem> messages, List<ReportListener> listeners) {
        List<Report> items = new ArrayList<>(messages.size());
        for (int i = 0; i < messages.size(); i++) {
          items.add(new Report(lane, run, messages.get(i), listeners.get(i)));
        }
        Reporter.this.send(lane, items);
      }
    };
  }

  @Override
  protected void call(List<Report> batch, StreamObserver<ReportResponse> answer) {
    ReportRequest.Builder request =
        ReportRequest.newBuilder().setNamespace(connection.namespace()).setWorkerId(workerId.get());
    batch.forEach(report -> request.addItems(report.message));
    connection.workers(ANSWER_MS).report(request.build(), answer);
  }

  @Override
  protected List<ReportResult> results(ReportResponse response) {
    return response.getResultsList();
  }

  @Override
  protected void answered(Report report, ReportResult result) {
    try {
      report.listener.answered(result);
    } catch (RuntimeException | Error e) {
      // A failing listener must not keep the answers from the other listeners.
      log.error("the answer to a report could not be handled").about(report.run).cause(e).write();
    }
  }

  @Override
  protected Retry afterFailure(List<Report> batch, Throwable error) {
    if (batch.size() > 1) {
      return isAboutItems(error) ? Retry.ALONE : Retry.YES;
    }
    boolean isFinal =
        switch (RpcErrors.code(error)) {
          case INVALID_ARGUMENT, OUT_OF_RANGE -> true;
          case RESOURCE_EXHAUSTED -> isTooLarge(batch, error);
          case INTERNAL, UNKNOWN, DATA_LOSS ->
              isAboutItems(error) && ++batch.getFirst().refusals >= REFUSALS_MAX;
          default -> false;
        };
    return isFinal ? Retry.NO : Retry.YES;
  }

  // Other errors (an expired token, a server that is being replaced) are temporary. So is what an
  // interceptor of the application throws: it has a cause, and an error of the server has none.
  private static boolean isAboutItems(Throwable error) {
    return switch (RpcErrors.code(error)) {
      case INVALID_ARGUMENT, OUT_OF_RANGE, DATA_LOSS -> true;
      case INTERNAL, UNKNOWN ->
          !RpcErrors.isTransient(error) && io.grpc.Status.fromThrowable(error).getCause() == null;
      default -> false;
    };
  }

  /**
   * Answers an item that makes its call fail. An invalid item is refused. If an item makes the
   * server fail, the claim counts as lost: the next heartbeats do not list it, so other workers get
   * the run. A run must not fail because of its server.
   */
  @Override
  protected void failed(Report report, Throwable error) {
    ReportResult.Builder result = ReportResult.newBuilder();
    switch (RpcErrors.code(error)) {
      case INTERNAL, UNKNOWN, DATA_LOSS -> {
        log.warn("server failed to process a report several times, its claim is dropped")
            .about(report.run)
            .with("error", error.getMessage())
            .cause(error)
            .write();
        result.getClaimLostBuilder();
      }
      default ->
          result.setRefused(
              ErrorDetail.newBuilder()
                  .setCode(ErrorCode.ERROR_CODE_INVALID_ARGUMENT)
                  .setNonRetryable(true)
                  .setMessage(String.valueOf(RpcErrors.toException("report", error).getMessage())));
    }
    answered(report, result.build());
  }
}
