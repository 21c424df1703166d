package dev.kagzi.sdk.internal.worker;

import dev.kagzi.protocol.v1.AttachResponse;
import dev.kagzi.protocol.v1.ClaimRef;
import dev.kagzi.protocol.v1.GetHistoryRequest;
import dev.kagzi.protocol.v1.GetHistoryResponse;
import dev.kagzi.protocol.v1.HeartbeatRequest;
import dev.kagzi.protocol.v1.HeartbeatResponse;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.sdk.internal.log.LoggedRun;
import dev.kagzi.sdk.internal.metrics.ClientMetrics;
import dev.kagzi.sdk.internal.report.ReportLane;
import dev.kagzi.sdk.internal.report.Reporter;
import dev.kagzi.sdk.internal.run.RegisteredWorkflow;
import dev.kagzi.sdk.internal.run.RunExecution;
import dev.kagzi.sdk.internal.run.RunHost;
import dev.kagzi.sdk.internal.run.RunOutcome;
import dev.kagzi.sdk.internal.trace.ClaimedTask;
import dev.kagzi.sdk.internal.trace.ExecutionTrace;
import dev.kagzi.sdk.internal.trace.Tracing;
import dev.kagzi.sdk.internal.wire.Connection;
import dev.kagzi.sdk.internal.wire.Payloads;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The worker of one queue. Thread-safe. */
final class QueueWorker
    implements RunHost, WorkerSession.Owner, HeartbeatSender.Owner, Poller.Owner {
  private final Connection connection;
  private final RunHost.Settings runSettings;
  private final Tracing tracing;
  private final Map<CodeKey, RegisteredWorkflow<?, ?>> codes = new HashMap<>();
  private final Map<String, RunExecution> claims = new ConcurrentHashMap<>();

  /** All executions that hold a slot or wait for one. Some of them have lost their claim. */
  private final Set<RunExecution> executions = ConcurrentHashMap.newKeySet();

  private final BlockedRuns blocked = new BlockedRuns();
  private final WorkerSlots slots;
  private final WorkerSession session;
  private final HeartbeatSender heartbeat;
  private final Poller poller;
  private final Reporter reporter;
  private final Drain drain;

  private final ClientMetrics metrics;
  private final ClientMetrics.WorkerNumbers numbers;
  private volatile Runnable stopMeasuring = () -> {};

  private record CodeKey(String type, String version) {}

  QueueWorker(
      Connection connection, Payloads payloads, ClientMetrics metrics, WorkerSettings settings) {
    this.connection = connection;
    this.metrics = metrics;
    this.numbers =
        new ClientMetrics.WorkerNumbers(
            settings.maxConcurrent(), this::activeCount, this::stuckCount);
    this.runSettings =
        new RunHost.Settings(
            connection.namespace(),
            settings.queue(),
            payloads,
            settings.failures(),
            settings.interceptors(),
            settings.nondeterminism(),
            null,
            metrics);
    this.tracing = settings.tracing();
    for (RegisteredWorkflow<?, ?> code : settings.codes()) {
      codes.put(new CodeKey(code.type().name(), code.type().version()), code);
    }
    this.slots = new WorkerSlots(settings);
    this.session =
        new WorkerSession(connection, settings.registerRequest(connection.namespace()), this);
    this.heartbeat = new HeartbeatSender(connection, this);
    this.poller = new Poller(connection, settings.queue(), !settings.typeLimits().isEmpty(), this);
    this.reporter = new Reporter(connection, session::workerId);
    this.drain = new Drain(this, connection, settings.drainTimeout());
  }

  @Override
  public void onRegistered(String workerId, int heartbeatSeconds) {
    heartbeat.startEvery(heartbeatSeconds);
    poller.poll();
  }

  @Override
  public void onRejected() {
    heartbeat.sendNow();
  }

  @Override
  public String workerId() {
    return session.workerId();
  }

  @Override
  public void onUnknownWorker(String workerId) {
    session.registerAgain(workerId);
  }

  @Override
  public @Nullable String workerIdToPoll() {
    return drain.hasBegun() || !session.isRegistered() ? null : session.workerId();
  }

  @Override
  public WorkerSlots.Free free() {
    return slots.free();
  }

  void start() {
    stopMeasuring = metrics.workerStarted(runSettings.queue(), numbers);
    session.start();
  }

  Drain drain() {
    return drain;
  }

  boolean isConnected() {
    return session.isAttached() && heartbeat.isAnswered() && !drain.hasBegun();
  }

  WorkerSession session() {
    return session;
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

  /** Stops heartbeats, registration and polls. Called at the end of the drain. */
  void close() {
    stopMeasuring.run();
    heartbeat.close();
    try {
      session.close();
    } finally {
      poller.cancel();
    }
  }

  @Override
  public void onTasks(List<Task> tasks) {
    for (Task task : tasks) {
      RunExecution held = claims.get(task.getRunId());
      if (held != null && held.epoch() >= task.getEpoch()) {
        // The same claim again, or an older one that arrived late. Two executions of one claim
        // would both report.
        continue;
      }
      RunExecution run = new RunExecution(this, task);
      RunExecution former = claims.put(task.getRunId(), run);
      if (former != null) {
        // The server released the run and dispatched it to this worker again, so the earlier claim
        // is lost.
        former.lose();
      }
      executions.add(run);
      boolean mayStart = slots.add(run);
      if (drain.hasBegun()) {
        run.releaseUnstarted();
      } else if (mayStart) {
        run.start();
      }
    }
  }

  @Override
  public void addClaims(HeartbeatRequest.Builder request) {
    for (RunExecution run : claims.values()) {
      request.addClaims(ClaimRef.newBuilder().setRunId(run.runId()).setEpoch(run.epoch()).build());
    }
    request.setActiveCount(slots.held());
  }

  @Override
  public void onResponse(HeartbeatResponse response) {
    response.getLostList().forEach(this::lose);
    response.getCancelledList().forEach(this::lose);
    response.getCancelRequestedList().forEach(this::onCancelRequested);
    if (response.getShouldDrain()) {
      drain.begin();
    }
  }

  @Override
  public void onEvent(AttachResponse event) {
    switch (event.getEventCase()) {
      case STOP -> event.getStop().getClaimsList().forEach(this::lose);
      case DRAIN -> drain.begin();
      case WAKE -> event.getWake().getClaimsList().forEach(this::onStepEnded);
      case CANCEL_REQUESTED ->
          event.getCancelRequested().getClaimsList().forEach(this::onCancelRequested);
      case ATTACHED, EVENT_NOT_SET -> {}
    }
  }

  private void onStepEnded(ClaimRef claim) {
    RunExecution run = claims.get(claim.getRunId());
    if (run != null && run.epoch() == claim.getEpoch()) {
      run.queryEndedSteps();
    }
  }

  private void onCancelRequested(ClaimRef claim) {
    RunExecution run = claims.get(claim.getRunId());
    if (run != null && run.epoch() == claim.getEpoch()) {
      run.cancelRequested();
    }
  }

  private void lose(ClaimRef claim) {
    RunExecution run = claims.get(claim.getRunId());
    // This worker may hold the run again with a newer claim.
    if (run != null && run.epoch() == claim.getEpoch()) {
      run.lose();
    }
  }

  @Override
  public RunHost.Settings settings() {
    return runSettings;
  }

  @Override
  public @Nullable RegisteredWorkflow<?, ?> code(Task task) {
    return codes.get(new CodeKey(task.getWorkflowType(), task.getVersion()));
  }

  @Override
  public ReportLane lane(Task task, LoggedRun logged) {
    return reporter.lane(logged, task.getEpoch());
  }

  @Override
  public ExecutionTrace trace(Task task) {
    return tracing.execution(
        new ClaimedTask(task, runSettings.namespace(), runSettings.queue(), session.workerId()));
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
    if (!execution.isBlocked()) {
      blocked.continued(execution.runId());
    }
    try {
      count(execution, outcome);
    } finally {
      freeSlot(execution);
    }
  }

  private void count(RunExecution execution, RunOutcome outcome) {
    switch (outcome) {
      case COMPLETED -> heartbeat.countCompleted();
      case FAILED -> heartbeat.countFailed();
      case CANCELLED, UNFINISHED -> {}
    }
    metrics.runEnded(
        runSettings.queue(), execution.workflowType(), outcome.name().toLowerCase(Locale.ROOT));
  }

  private void freeSlot(RunExecution execution) {
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
