package dev.kagzi.testkit;

import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportRequest;
import dev.kagzi.protocol.v1.ReportResponse;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.protocol.v1.WorkerServiceGrpc;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Simulates worker crashes. It truncates a report after the step that a test named. When that part
 * is recorded, it answers that the claim is lost, and marks the worker offline. Thread-safe.
 */
final class Crashes implements ClientInterceptor {
  private static final ReportResult CLAIM_LOST =
      ReportResult.newBuilder().setClaimLost(ReportResult.ClaimLost.getDefaultInstance()).build();

  private final Function<String, CompletableFuture<?>> kill;
  private final List<String> planned = new ArrayList<>();

  /**
   * @param kill marks the worker with this id offline
   */
  Crashes(Function<String, CompletableFuture<?>> kill) {
    this.kill = kill;
  }

  synchronized void plan(String step) {
    planned.add(step);
  }

  /** Returns the steps after which a crash has not happened yet, and forgets them. */
  synchronized List<String> forget() {
    List<String> missing = List.copyOf(planned);
    planned.clear();
    return missing;
  }

  private synchronized @Nullable CutReport cut(ReportRequest report) {
    for (int index = 0; index < report.getItemsCount(); index++) {
      ReportItem item = report.getItems(index);
      if (isResult(item)) {
        String key = item.getStepDone().getStepKey();
        for (String step : planned) {
          if (StepNames.matches(step, key)) {
            planned.remove(step);
            return new CutReport(report, index, step);
          }
        }
      }
    }
    return null;
  }

  private static boolean isResult(ReportItem item) {
    return item.hasStepDone() && item.getStepDone().getKind() == StepKind.STEP_KIND_FUNCTION;
  }

  /** A report that is sent only up to the crash. */
  private record CutReport(ReportRequest whole, int last, String step) {
    ReportRequest sent() {
      return whole.toBuilder()
          .clearItems()
          .addAllItems(whole.getItemsList().subList(0, last + 1))
          .build();
    }

    boolean isRecorded(ReportResponse response) {
      ReportResult result = response.getResults(last);
      return result.hasAccepted() || result.hasAlreadyRecorded();
    }

    /**
     * Returns the response for the crashed worker: the claim is lost for the crashed run and for
     * all items that were not sent.
     */
    ReportResponse answer(ReportResponse response) {
      ReportResponse.Builder answer = ReportResponse.newBuilder();
      String run = whole.getItems(last).getRunId();
      for (int i = 0; i < whole.getItemsCount(); i++) {
        boolean lost = i >= last || whole.getItems(i).getRunId().equals(run);
        answer.addResults(lost ? CLAIM_LOST : response.getResults(i));
      }
      return answer.build();
    }
  }

  @Override
  @SuppressWarnings("unchecked") // the method's name determines its message types
  public <Q, A> ClientCall<Q, A> interceptCall(
      MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
    ClientCall<Q, A> call = next.newCall(method, options);
    return method
            .getFullMethodName()
            .equals(WorkerServiceGrpc.getReportMethod().getFullMethodName())
        ? (ClientCall<Q, A>) new Report((ClientCall<ReportRequest, ReportResponse>) call)
        : call;
  }

  private final class Report extends SimpleForwardingClientCall<ReportRequest, ReportResponse> {
    private volatile @Nullable CutReport cut;

    Report(ClientCall<ReportRequest, ReportResponse> call) {
      super(call);
    }

    @Override
    public void start(Listener<ReportResponse> listener, Metadata headers) {
      super.start(new Answer(listener), headers);
    }

    @Override
    public void sendMessage(ReportRequest report) {
      CutReport found = cut(report);
      cut = found;
      super.sendMessage(found == null ? report : found.sent());
    }

    private final class Answer extends SimpleForwardingClientCallListener<ReportResponse> {
      private @Nullable ReportResponse response;

      Answer(Listener<ReportResponse> listener) {
        super(listener);
      }

      @Override
      public void onMessage(ReportResponse message) {
        if (cut == null) {
          super.onMessage(message);
        } else {
          response = message;
        }
      }

      @Override
      public void onClose(Status status, Metadata trailers) {
        CutReport report = cut;
        ReportResponse answered = response;
        if (report == null) {
          super.onClose(status, trailers);
        } else if (answered == null || !status.isOk() || !report.isRecorded(answered)) {
          notRecorded(report, status, trailers);
        } else {
          crash(report, answered, trailers);
        }
      }

      // The worker receives an error, so it sends the whole report again.
      private void notRecorded(CutReport report, Status status, Metadata trailers) {
        if (!status.isOk()) {
          plan(report.step);
        }
        super.onClose(
            status.isOk() ? Status.UNAVAILABLE.withDescription("cut off by a test") : status,
            trailers);
      }

      // The worker must lose the claim before it is marked offline: a worker that is offline
      // registers again, and its heartbeat would keep the claims that it still knows. This code
      // does not wait for the engine, which marks the worker offline: it runs on a thread of the
      // channel, which must not block.
      private void crash(CutReport report, ReportResponse answered, Metadata trailers) {
        delegate().onMessage(report.answer(answered));
        delegate().onClose(Status.OK, trailers);
        CompletableFuture<?> unused = kill.apply(report.whole.getWorkerId());
      }
    }
  }
}
