package dev.kagzi.sdk.internal.worker;

import dev.kagzi.protocol.v1.AttachResponse;
import dev.kagzi.protocol.v1.ClaimRef;
import dev.kagzi.protocol.v1.GetHistoryRequest;
import dev.kagzi.protocol.v1.GetHistoryResponse;
import dev.kagzi.protocol.v1.HeartbeatRequest;
import dev.kagzi.protocol.v1.HeartbeatResponse;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.sdk.internal.report.ReportLane;
import dev.kagzi.sdk.internal.report.Reporter;
import dev.kagzi.sdk.internal.run.FailureRecorder;
import dev.kagzi.sdk.internal.run.InterceptorChain;
import dev.kagzi.sdk.internal.run.Nondeterminism;
import dev.kagzi.sdk.internal.run.RegisteredWorkflow;
import dev.kagzi.sdk.internal.run.RunExecution;
import dev.kagzi.sdk.internal.run.RunHost;
import dev.kagzi.sdk.internal.run.RunOutcome;
import dev.kagzi.sdk.internal.wire.Connection;
import dev.kagzi.sdk.internal.wire.Payloads;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Serves one queue. Thread-safe. */
final class QueueWorker implements RunHost {
  private final Connection connection;
  private final Payloads payloads;
  private final WorkerSettings settings;
  private final Map<CodeKey, RegisteredWorkflow<?, ?>> codes = new HashMap<>();
  private final Map<String, RunExecution> claims = new ConcurrentHashMap<>();

  /** All that hold a slot; some of them no longer have their claim. */
  private final Set<RunExecution> executions = ConcurrentHashMap.newKeySet();

  private final BlockedRuns blocked = new BlockedRuns();
  private final WorkerSlots slots;
  private final WorkerSession registration;
  private final HeartbeatSender heartbeat;
  private final Poller poller;
  private final Reporter reporter;
  private final Drain drain;

  private record CodeKey(String type, String version) {}

  QueueWorker(Connection connection, Payloads payloads, WorkerSettings settings) {
    this.connection = connection;
    this.payloads = payloads;
    this.settings = settings;
    for (RegisteredWorkflow<?, ?> code : settings.codes()) {
      codes.put(new CodeKey(code.type().name(), code.type().version()), code);
    }
    this.slots = new WorkerSlots(settings);
    this.registration =
        new WorkerSession(
            connection,
            RegisterRequests.of(connection.namespace(), settings),
            new RegistrationEvents());
    this.heartbeat = new HeartbeatSender(connection, new HeartbeatEvents());
    this.poller =
        new Poller(
            connection, settings.queue(), !settings.typeLimits().isEmpty(), new PollEvents());
    this.reporter = new Reporter(connection, registration::workerId);
    this.drain = new Drain(this, connection, settings.drainTimeout());
  }

  private final class RegistrationEvents implements WorkerSession.Owner {
    @Override
    public void registered(String workerId, int heartbeatSeconds) {
      heartbeat.every(heartbeatSeconds);
      poller.poll();
    }

    @Override
    public void told(AttachResponse event) {
      heard(event);
    }

    @Override
    public void refused() {
      heartbeat.askNow();
    }
  }

  private final class HeartbeatEvents implements HeartbeatSender.Owner {
    @Override
    public String workerId() {
      return registration.workerId();
    }

    @Override
    public void describe(HeartbeatRequest.Builder request) {
      listClaims(request);
    }

    @Override
    public void told(HeartbeatResponse response) {
      heard(response);
    }

    @Override
    public void unknown(String workerId) {
      registration.renew(workerId);
    }
  }

  private final class PollEvents implements Poller.Owner {
    @Override
    public @Nullable String pollAs() {
      return drain.hasBegun() || !registration.isRegistered() ? null : registration.workerId();
    }

    @Override
    public WorkerSlots.Free free() {
      return slots.free();
    }

    @Override
    public void arrived(List<Task> tasks) {
      takeIn(tasks);
    }

    @Override
    public void refused() {
      heartbeat.askNow();
    }
  }

  void start() {
    registration.start();
  }

  Drain drain() {
    return drain;
  }

  boolean isConnected() {
    return registration.isAttached() && heartbeat.isAnswered() && !drain.hasBegun();
  }

  WorkerSession registration() {
    return registration;
  }

  Poller poller() {
    return poller;
  }

  int activeCount() {
    return slots.held();
  }

  int stuckCount() {
    long now = System.nanoTime();
    return (int) executions.stream().filter(run -> run.isStuck(now)).count();
  }

  Collection<RunExecution> executions() {
    return executions;
  }

  Collection<RunExecution> running() {
    return claims.values();
  }

  List<RunExecution> notStarted() {
    return slots.waiting();
  }

  /** After the last run: lets go of the server. */
  void close() {
    heartbeat.close();
    registration.close();
    poller.cancel();
  }

  private void takeIn(List<Task> tasks) {
    for (Task task : tasks) {
      RunExecution held = claims.get(task.getRunId());
      if (held != null && held.epoch() >= task.getEpoch()) {
        // The very claim that is being executed, within whose fence a second execution would be; or
        // one of before, that came late.
        continue;
      }
      RunExecution run = new RunExecution(this, task);
      RunExecution former = claims.put(task.getRunId(), run);
      if (former != null) {
        // The server has taken the run back and given it to us again: the former claim is void.
        former.lose();
      }
      executions.add(run);
      boolean mayStart = slots.take(run);
      if (drain.hasBegun()) {
        run.releaseUnstarted();
      } else if (mayStart) {
        run.start();
      }
    }
  }

  private void listClaims(HeartbeatRequest.Builder request) {
    for (RunExecution run : claims.values()) {
      request.addClaims(ClaimRef.newBuilder().setRunId(run.runId()).setEpoch(run.epoch()).build());
    }
    request.setActiveCount(slots.held());
  }

  private void heard(HeartbeatResponse response) {
    response.getLostList().forEach(this::lose);
    response.getCancelledList().forEach(this::lose);
    if (response.getShouldDrain()) {
      drain.begin();
    }
  }

  private void heard(AttachResponse event) {
    switch (event.getEventCase()) {
      case STOP -> event.getStop().getClaimsList().forEach(this::lose);
      case DRAIN -> drain.begin();
      case WAKE -> event.getWake().getClaimsList().forEach(this::wake);
      case ATTACHED, EVENT_NOT_SET -> {}
    }
  }

  private void wake(ClaimRef claim) {
    RunExecution run = claims.get(claim.getRunId());
    if (run != null && run.epoch() == claim.getEpoch()) {
      run.childEnded();
    }
  }

  private void lose(ClaimRef claim) {
    RunExecution run = claims.get(claim.getRunId());
    // The run may be here again, by a later claim.
    if (run != null && run.epoch() == claim.getEpoch()) {
      run.lose();
    }
  }

  @Override
  public String namespace() {
    return connection.namespace();
  }

  @Override
  public String queue() {
    return settings.queue();
  }

  @Override
  public Payloads payloads() {
    return payloads;
  }

  @Override
  public FailureRecorder failures() {
    return settings.failures();
  }

  @Override
  public InterceptorChain around() {
    return settings.around();
  }

  @Override
  public Nondeterminism nondeterminism() {
    return settings.nondeterminism();
  }

  @Override
  public @Nullable RegisteredWorkflow<?, ?> code(Task task) {
    return codes.get(new CodeKey(task.getWorkflowType(), task.getVersion()));
  }

  @Override
  public ReportLane lane(Task task) {
    return reporter.lane(task.getRunId(), task.getEpoch());
  }

  @Override
  public Iterator<GetHistoryResponse> history(Task task) {
    return connection.history(
        GetHistoryRequest.newBuilder()
            .setNamespace(connection.namespace())
            .setRunId(task.getRunId())
            .setEpoch(task.getEpoch())
            .build());
  }

  @Override
  public long blockedDelayMs(String runId) {
    return blocked.nextDelayMs(runId);
  }

  @Override
  public void claimGone(RunExecution execution) {
    claims.remove(execution.runId(), execution);
  }

  @Override
  public void ended(RunExecution execution, RunOutcome outcome) {
    switch (outcome) {
      case COMPLETED -> heartbeat.countCompleted();
      case FAILED -> heartbeat.countFailed();
      case UNFINISHED -> {}
    }
    executions.remove(execution);
    for (RunExecution next : slots.free(execution)) {
      if (drain.hasBegun()) {
        next.releaseUnstarted();
      } else {
        next.start();
      }
    }
    poller.poll();
    drain.runEnded();
  }
}
