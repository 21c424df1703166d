package dev.kagzi.sdk.fake;

import dev.kagzi.protocol.v1.AttachRequest;
import dev.kagzi.protocol.v1.AttachResponse;
import dev.kagzi.protocol.v1.ClaimRef;
import dev.kagzi.protocol.v1.DeregisterRequest;
import dev.kagzi.protocol.v1.DeregisterResponse;
import dev.kagzi.protocol.v1.GetHistoryRequest;
import dev.kagzi.protocol.v1.GetHistoryResponse;
import dev.kagzi.protocol.v1.HeartbeatRequest;
import dev.kagzi.protocol.v1.HeartbeatResponse;
import dev.kagzi.protocol.v1.PollTasksRequest;
import dev.kagzi.protocol.v1.PollTasksResponse;
import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.RegisterRequest;
import dev.kagzi.protocol.v1.RegisterResponse;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportRequest;
import dev.kagzi.protocol.v1.ReportResponse;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.protocol.v1.WorkerServiceGrpc;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** The worker service of the fake server. */
public final class FakeWorkerService extends WorkerServiceGrpc.WorkerServiceImplBase {
  public final List<RegisterRequest> registrations = new CopyOnWriteArrayList<>();
  public final List<HeartbeatRequest> heartbeats = new CopyOnWriteArrayList<>();
  public final List<ReportRequest> reports = new CopyOnWriteArrayList<>();
  public final List<PollTasksRequest> polls = new CopyOnWriteArrayList<>();
  public final List<DeregisterRequest> deregistrations = new CopyOnWriteArrayList<>();
  private final Map<String, StreamObserver<AttachResponse>> attached = new ConcurrentHashMap<>();
  private final AtomicInteger ids = new AtomicInteger();
  private final FakeServer server;

  FakeWorkerService(FakeServer server) {
    this.server = server;
  }

  /** Sends an event to the worker that it no longer holds the run. */
  public void stopRun(String runId) {
    int epoch = server.state.with(runId, run -> run.epoch);
    AttachResponse stop =
        AttachResponse.newBuilder()
            .setStop(
                AttachResponse.Stop.newBuilder()
                    .addClaims(ClaimRef.newBuilder().setRunId(runId).setEpoch(epoch)))
            .build();
    attached.values().forEach(stream -> stream.onNext(stop));
  }

  /** Deletes the workers, as a server does with workers that were silent for long. */
  public void forgetWorkers() {
    synchronized (server.state) {
      server.state.onlineWorkers.clear();
    }
  }

  public boolean isAttached(String workerId) {
    return attached.containsKey(workerId);
  }

  @Override
  public void register(RegisterRequest request, StreamObserver<RegisterResponse> answer) {
    registrations.add(request);
    String id = "worker-" + ids.incrementAndGet();
    synchronized (server.state) {
      server.state.onlineWorkers.put(id, true);
    }
    answer.onNext(
        RegisterResponse.newBuilder().setWorkerId(id).setHeartbeatIntervalSecs(1).build());
    answer.onCompleted();
  }

  @Override
  public void heartbeat(HeartbeatRequest request, StreamObserver<HeartbeatResponse> answer) {
    heartbeats.add(request);
    HeartbeatResponse.Builder response = HeartbeatResponse.newBuilder().setAccepted(true);
    synchronized (server.state) {
      if (!server.state.onlineWorkers.containsKey(request.getWorkerId())) {
        answer.onError(Status.NOT_FOUND.asException());
        return;
      }
      for (ClaimRef claim : request.getClaimsList()) {
        FakeRun run = server.state.find(claim.getRunId());
        if (run == null || run.epoch != claim.getEpoch() || run.workerId.isEmpty()) {
          response.addLost(claim);
        }
      }
    }
    answer.onNext(response.build());
    answer.onCompleted();
  }

  @Override
  public void deregister(DeregisterRequest request, StreamObserver<DeregisterResponse> answer) {
    deregistrations.add(request);
    synchronized (server.state) {
      server.state.onlineWorkers.replace(request.getWorkerId(), false);
    }
    try {
      server.awaitRelease(FakeServer.answerKey("Deregister"));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    answer.onNext(DeregisterResponse.getDefaultInstance());
    answer.onCompleted();
  }

  @Override
  public void pollTasks(PollTasksRequest request, StreamObserver<PollTasksResponse> answer) {
    polls.add(request);
    var call = (ServerCallStreamObserver<PollTasksResponse>) answer;
    try {
      server.awaitRelease("PollTasks");
      boolean known;
      synchronized (server.state) {
        known = server.state.onlineWorkers.containsKey(request.getWorkerId());
      }
      if (!known) {
        answer.onError(Status.FAILED_PRECONDITION.asException());
        return;
      }
      PollTasksResponse response =
          server.state.poll(
              request,
              () -> {
                if (call.isCancelled()) {
                  throw Status.CANCELLED.asRuntimeException();
                }
              });
      server.awaitRelease(FakeServer.answerKey("PollTasks"));
      answer.onNext(response);
      answer.onCompleted();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      answer.onError(Status.UNAVAILABLE.asException());
    }
  }

  @Override
  public void report(ReportRequest request, StreamObserver<ReportResponse> answer) {
    try {
      server.awaitRelease("Report");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    reports.add(request);
    ReportResponse.Builder response = ReportResponse.newBuilder();
    for (ReportItem item : request.getItemsList()) {
      ReportResult result =
          server.state.with(item.getRunId(), run -> FakeReports.answer(run, item));
      response.addResults(result);
    }
    answer.onNext(response.build());
    answer.onCompleted();
  }

  @Override
  public void attach(AttachRequest request, StreamObserver<AttachResponse> answer) {
    synchronized (server.state) {
      if (!server.state.onlineWorkers.containsKey(request.getWorkerId())) {
        answer.onError(Status.NOT_FOUND.asException());
        return;
      }
    }
    var call = (ServerCallStreamObserver<AttachResponse>) answer;
    call.setOnCancelHandler(() -> attached.remove(request.getWorkerId(), answer));
    attached.put(request.getWorkerId(), answer);
    answer.onNext(
        AttachResponse.newBuilder()
            .setAttached(AttachResponse.Attached.getDefaultInstance())
            .build());
  }

  @Override
  public void getHistory(GetHistoryRequest request, StreamObserver<GetHistoryResponse> answer) {
    try {
      server.awaitRelease("GetHistory");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    List<RecordedStep> steps =
        server.state.with(request.getRunId(), run -> server.state.history(run));
    for (RecordedStep step : steps) {
      answer.onNext(GetHistoryResponse.newBuilder().addSteps(step).build());
    }
    answer.onCompleted();
  }
}
