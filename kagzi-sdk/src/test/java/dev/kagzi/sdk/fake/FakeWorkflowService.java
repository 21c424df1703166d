package dev.kagzi.sdk.fake;

import dev.kagzi.protocol.v1.CancelWorkflowRequest;
import dev.kagzi.protocol.v1.CancelWorkflowResponse;
import dev.kagzi.protocol.v1.ErrorCode;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.GetWorkflowRequest;
import dev.kagzi.protocol.v1.GetWorkflowResponse;
import dev.kagzi.protocol.v1.ListWorkflowsRequest;
import dev.kagzi.protocol.v1.ListWorkflowsResponse;
import dev.kagzi.protocol.v1.PageInfo;
import dev.kagzi.protocol.v1.ResumeWorkflowRequest;
import dev.kagzi.protocol.v1.ResumeWorkflowResponse;
import dev.kagzi.protocol.v1.RetryWorkflowRequest;
import dev.kagzi.protocol.v1.RetryWorkflowResponse;
import dev.kagzi.protocol.v1.StartResult;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.StartWorkflowsRequest;
import dev.kagzi.protocol.v1.StartWorkflowsResponse;
import dev.kagzi.protocol.v1.TerminateWorkflowRequest;
import dev.kagzi.protocol.v1.TerminateWorkflowResponse;
import dev.kagzi.protocol.v1.WatchWorkflowsRequest;
import dev.kagzi.protocol.v1.WatchWorkflowsResponse;
import dev.kagzi.protocol.v1.WorkflowEnd;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowStatus;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** The client service of the fake server. */
public final class FakeWorkflowService extends WorkflowServiceGrpc.WorkflowServiceImplBase {
  public static final String REFUSED_TYPE = "refused";

  public final List<StartWorkflowsRequest> starts = new CopyOnWriteArrayList<>();

  /** Messages received on watch streams, added after they took effect. */
  public final List<WatchWorkflowsRequest> watches = new CopyOnWriteArrayList<>();

  private final Map<String, ErrorDetail> refusals = new ConcurrentHashMap<>();
  private final FakeServer server;
  private volatile boolean losesStartAnswers;

  FakeWorkflowService(FakeServer server) {
    this.server = server;
    refuse(
        REFUSED_TYPE,
        ErrorDetail.newBuilder()
            .setCode(ErrorCode.ERROR_CODE_INVALID_ARGUMENT)
            .setMessage("no such thing")
            .build());
  }

  /**
   * Refuses every start of the type, but not other starts of the same call, until {@link #accept}.
   */
  public void refuse(String workflowType, ErrorDetail why) {
    refusals.put(workflowType, why);
  }

  public void accept(String workflowType) {
    refusals.remove(workflowType);
  }

  /** While on, starts are written but answered with UNAVAILABLE. */
  public void loseStartAnswers(boolean on) {
    losesStartAnswers = on;
  }

  @Override
  public void startWorkflows(
      StartWorkflowsRequest request, StreamObserver<StartWorkflowsResponse> answer) {
    starts.add(request);
    try {
      server.awaitRelease("StartWorkflows");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    StartWorkflowsResponse.Builder response = StartWorkflowsResponse.newBuilder();
    for (StartWorkflowRequest start : request.getStartsList()) {
      response.addResults(start(start));
    }
    if (losesStartAnswers) {
      answer.onError(Status.UNAVAILABLE.asException());
      return;
    }
    answer.onNext(response.build());
    answer.onCompleted();
  }

  private StartResult start(StartWorkflowRequest start) {
    ErrorDetail refusal = refusals.get(start.getWorkflowType());
    return refusal != null
        ? StartResult.newBuilder().setRefused(refusal).build()
        : server.state.start(start);
  }

  @Override
  public void getWorkflow(GetWorkflowRequest request, StreamObserver<GetWorkflowResponse> answer) {
    FakeRun run = server.state.find(request.getRunId());
    if (run == null) {
      answer.onError(Status.NOT_FOUND.asException());
      return;
    }
    answer.onNext(
        GetWorkflowResponse.newBuilder()
            .setWorkflow(server.state.with(run.id(), FakeState::toWorkflow))
            .build());
    answer.onCompleted();
  }

  @Override
  public void cancelWorkflow(
      CancelWorkflowRequest request, StreamObserver<CancelWorkflowResponse> answer) {
    boolean cancelled =
        server.state.with(
            request.getRunId(),
            run -> {
              boolean active = !run.isFinished();
              if (active) {
                run.finish(WorkflowStatus.WORKFLOW_STATUS_CANCELLED);
              }
              return active || run.status == WorkflowStatus.WORKFLOW_STATUS_CANCELLED;
            });
    server.workers.stopRun(request.getRunId());
    answer.onNext(CancelWorkflowResponse.newBuilder().setCancelled(cancelled).build());
    answer.onCompleted();
  }

  @Override
  public void terminateWorkflow(
      TerminateWorkflowRequest request, StreamObserver<TerminateWorkflowResponse> answer) {
    boolean terminated =
        server.state.with(
            request.getRunId(),
            run -> {
              boolean active = !run.isFinished();
              if (active) {
                run.error = ErrorDetail.newBuilder().setMessage(request.getReason()).build();
                run.finish(WorkflowStatus.WORKFLOW_STATUS_FAILED);
              }
              return active;
            });
    server.workers.stopRun(request.getRunId());
    answer.onNext(TerminateWorkflowResponse.newBuilder().setTerminated(terminated).build());
    answer.onCompleted();
  }

  @Override
  public void retryWorkflow(
      RetryWorkflowRequest request, StreamObserver<RetryWorkflowResponse> answer) {
    FakeRun run = server.state.find(request.getRunId());
    if (run == null) {
      answer.onError(Status.NOT_FOUND.asException());
      return;
    }
    boolean active = server.state.with(run.id(), each -> !each.isFinished());
    String next = active ? run.id() : request.getNewRunId();
    if (!active) {
      server.state.start(run.start.toBuilder().setRunId(next).build());
    }
    answer.onNext(
        RetryWorkflowResponse.newBuilder().setNewRunId(next).setAlreadyRunning(active).build());
    answer.onCompleted();
  }

  @Override
  public void resumeWorkflow(
      ResumeWorkflowRequest request, StreamObserver<ResumeWorkflowResponse> answer) {
    boolean resumed =
        server.state.with(
            request.getRunId(),
            run -> {
              boolean failed = run.status == WorkflowStatus.WORKFLOW_STATUS_FAILED;
              if (failed) {
                run.error = null;
                run.steps.values().removeIf(step -> step.hasFinalFailure());
                run.giveBack(WorkflowStatus.WORKFLOW_STATUS_PENDING, 0);
              }
              return failed;
            });
    answer.onNext(ResumeWorkflowResponse.newBuilder().setResumed(resumed).build());
    answer.onCompleted();
  }

  @Override
  public void listWorkflows(
      ListWorkflowsRequest request, StreamObserver<ListWorkflowsResponse> answer) {
    List<FakeRun> all = server.state.all();
    int from =
        request.getPage().getPageToken().isEmpty()
            ? 0
            : Integer.parseInt(request.getPage().getPageToken());
    int size = Math.max(1, request.getPage().getPageSize());
    int to = Math.min(all.size(), from + size);
    ListWorkflowsResponse.Builder response = ListWorkflowsResponse.newBuilder();
    for (FakeRun run : all.subList(from, to)) {
      response.addWorkflows(server.state.with(run.id(), FakeState::toWorkflow));
    }
    PageInfo.Builder page = PageInfo.newBuilder().setTotalCount(all.size());
    if (to < all.size()) {
      page.setHasMore(true).setNextPageToken(String.valueOf(to));
    }
    answer.onNext(response.setPage(page).build());
    answer.onCompleted();
  }

  @Override
  public StreamObserver<WatchWorkflowsRequest> watchWorkflows(
      StreamObserver<WatchWorkflowsResponse> answer) {
    Set<String> watched = ConcurrentHashMap.newKeySet();
    var call = (ServerCallStreamObserver<WatchWorkflowsResponse>) answer;
    Thread watcher = Thread.ofVirtual().start(() -> watch(call, watched));
    return new StreamObserver<>() {
      @Override
      public void onNext(WatchWorkflowsRequest request) {
        watched.addAll(request.getWatchRunIdsList());
        watched.removeAll(Set.copyOf(request.getForgetRunIdsList()));
        watches.add(request);
      }

      @Override
      public void onError(Throwable error) {
        watcher.interrupt();
      }

      @Override
      public void onCompleted() {
        watcher.interrupt();
        answer.onCompleted();
      }
    };
  }

  private void watch(ServerCallStreamObserver<WatchWorkflowsResponse> answer, Set<String> watched) {
    try {
      while (!answer.isCancelled()) {
        List<WorkflowEnd> ends = new ArrayList<>();
        synchronized (server.state) {
          for (String runId : watched) {
            FakeRun run = server.state.find(runId);
            if (run == null) {
              ends.add(WorkflowEnd.newBuilder().setRunId(runId).setNotFound(true).build());
            } else if (run.isFinished()) {
              ends.add(FakeState.end(run));
            }
          }
          if (ends.isEmpty()) {
            server.state.wait(5);
          }
        }
        if (!ends.isEmpty()) {
          ends.forEach(end -> watched.remove(end.getRunId()));
          answer.onNext(WatchWorkflowsResponse.newBuilder().addAllEnds(ends).build());
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IllegalStateException | io.grpc.StatusRuntimeException e) {
      Thread.currentThread().interrupt();
    }
  }
}
