package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.sdk.Branch;
import dev.kagzi.sdk.ChildBuilder;
import dev.kagzi.sdk.ChildHandle;
import dev.kagzi.sdk.ContextMisuseException;
import dev.kagzi.sdk.ContextMisuseException.Misuse;
import dev.kagzi.sdk.ParallelBuilder;
import dev.kagzi.sdk.Saga;
import dev.kagzi.sdk.StepAction;
import dev.kagzi.sdk.StepBuilder;
import dev.kagzi.sdk.StepCode;
import dev.kagzi.sdk.TypeRef;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.sdk.internal.wire.Payloads;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The context of a run's main code or of one branch. A call by a thread that may not use it throws
 * {@link ContextMisuseException}.
 */
final class RunContext implements WorkflowContext {
  private static final String SAGA = "saga";
  private static final String NOW = "now";

  private final RunHost host;
  private final Task task;
  private final WorkflowThread workflowThread;
  private final String scope;
  private final SlotHolders slotHolders;
  private final Steps steps;
  private final Sleeps sleeps;
  private final Children children;
  private @Nullable Logger logger;
  private final StepKeys keys = new StepKeys();
  private final History history;
  private final ReplayCheck check;
  private final DerivedValues derived;

  /** Where this code is in the run: positions of all undos that it registers begin with it. */
  private final UndoPosition position;

  private int keysGiven;
  private int undosRegistered;

  RunContext(
      RunHost host,
      Task task,
      History history,
      WorkflowThread workflowThread,
      SlotHolders slotHolders) {
    this(host, task, history, workflowThread, slotHolders, "", UndoPosition.START);
  }

  private RunContext(
      RunHost host,
      Task task,
      History history,
      WorkflowThread workflowThread,
      SlotHolders slotHolders,
      String scope,
      UndoPosition position) {
    this.host = host;
    this.task = task;
    this.history = history;
    this.workflowThread = workflowThread;
    this.slotHolders = slotHolders;
    this.scope = scope;
    this.position = position;
    this.check = history.check(scope);
    this.derived = new DerivedValues(task.getRunId(), scope, this::checkUse);
    this.steps =
        new Steps(
            new RunRef(
                host.settings().namespace(),
                task.getRunId(),
                task.getWorkflowType(),
                task.getHeadersMap()),
            host.settings().payloads(),
            host.settings().failures(),
            host.settings().interceptors(),
            host.settings().metrics(),
            workflowThread,
            task.getStepTimeoutMs());
    this.children = new Children(this, workflowThread);
    this.sleeps = new Sleeps(workflowThread, history);
  }

  /** Returns the context of the branch at this index of the group that was requested last. */
  RunContext branch(WorkflowThread branch, String scope, int index) {
    return new RunContext(
        host, task, history, branch, slotHolders, scope, position.inBranch(keysGiven, index));
  }

  /** Returns the context of an undo, which this thread executes. */
  RunContext undo(String scope) {
    return new RunContext(
        host, task, history, workflowThread, slotHolders, scope, nextUndoPosition());
  }

  UndoPosition nextUndoPosition() {
    return position.after(keysGiven, undosRegistered++);
  }

  /**
   * Only a replay knows how far stopped branches have come, and so which undos they registered. So
   * the run continues with one.
   */
  void startOverIfBranchesWereStopped() {
    if (!workflowThread.isReplayOnly() && workflowThread.hasStoppedBranches()) {
      workflowThread.awaitDurable();
      throw workflowThread.end(new StopReason.StartOver());
    }
  }

  void awaitDurable() {
    workflowThread.awaitDurable();
  }

  SlotHolders slotHolders() {
    return slotHolders;
  }

  History history() {
    return history;
  }

  Payloads payloads() {
    return host.settings().payloads();
  }

  InterceptorChain interceptors() {
    return host.settings().interceptors();
  }

  FailureRecorder failures() {
    return host.settings().failures();
  }

  /** Returns the calling workflow thread of this run, whichever of its contexts the code uses. */
  WorkflowThread callingThread() {
    WorkflowThread here = WorkflowThread.current();
    if (here == null || !here.state().equals(workflowThread.state())) {
      throw foreign();
    }
    checkUse(here);
    return here;
  }

  String nextKey(String name) {
    keysGiven++;
    return scope + keys.next(name);
  }

  /** Returns the recorded step, or null. The kind is unspecified for a group of branches. */
  @Nullable RecordedStep take(String key, StepKind kind) {
    boolean isGroup = kind == StepKind.STEP_KIND_UNSPECIFIED;
    if (workflowThread.isReplayOnly() && !isGroup && !history.hasResult(key)) {
      throw new HistoryEndedError();
    }
    RecordedStep recorded = history.take(key);
    ReplayObserver observer = host.settings().observer();
    if (observer != null) {
      switch (observer.asked(key, kind, recorded)) {
        case ReplayObserver.Verdict.Matches() -> {}
        case ReplayObserver.Verdict.HistoryEnds() -> throw workflowThread.suspendIndefinitely();
        case ReplayObserver.Verdict.Differs(String how) ->
            throw HistoryMismatch.blocked(workflowThread, "REPLAY_DIFFERS", how, null);
      }
    }
    Nondeterminism nondeterminism = host.settings().nondeterminism();
    if (nondeterminism != null) {
      ReplayCheck.Mismatch mismatch = check.ask(key, kind, recorded);
      if (mismatch != null) {
        nondeterminism.onMismatch(workflowThread, task, mismatch);
      }
    }
    return recorded;
  }

  /** Drops recorded steps with this key prefix; their branch will not run again. */
  void discard(String prefix) {
    history.discard(prefix);
    ReplayObserver observer = host.settings().observer();
    if (observer != null) {
      observer.discarded(prefix);
    }
  }

  @Override
  public <T> T step(String name, Class<T> type, Callable<? extends T> code) {
    return execute(name, StepOptions.NONE, type, step -> code.call());
  }

  @Override
  public <T> T step(String name, TypeRef<T> type, Callable<? extends T> code) {
    return execute(name, StepOptions.NONE, type.type(), step -> code.call());
  }

  @Override
  public void step(String name, StepAction code) {
    executeAction(name, StepOptions.NONE, code);
  }

  @Override
  public StepBuilder step(String name) {
    return new RunStepBuilder(this, name);
  }

  // The codec decoded the value for exactly this type; null is allowed.
  @SuppressWarnings({"unchecked", "NullAway", "TypeParameterUnusedInFormals"})
  <T> T execute(String name, StepOptions options, Type type, StepCode<?> code) {
    checkUse();
    String key = nextKey(name);
    return (T)
        steps.execute(
            new Steps.Call(name, key, options, type, code), take(key, StepKind.STEP_KIND_FUNCTION));
  }

  @SuppressWarnings("NullAway") // A step without a result returns null.
  void executeAction(String name, StepOptions options, StepAction code) {
    Object unused =
        execute(
            name,
            options,
            Void.class,
            step -> {
              code.run();
              return null;
            });
  }

  @Override
  public void sleep(String name, Duration duration) {
    if (duration.isNegative()) {
      throw new IllegalArgumentException("duration: " + duration + " (expected: >= 0)");
    }
    checkUse();
    String key = nextKey(name);
    sleeps.sleep(name, key, take(key, StepKind.STEP_KIND_SLEEP), ProtoMapper.millis(duration));
  }

  @Override
  public void sleep(String name, String duration) {
    sleep(name, DurationText.parse(duration));
  }

  @Override
  public void sleepUntil(String name, Instant until) {
    checkUse();
    String key = nextKey(name);
    sleeps.sleepUntil(
        name, key, take(key, StepKind.STEP_KIND_SLEEP), Objects.requireNonNull(until, "until"));
  }

  @Override
  public <I, O> ChildBuilder<I, O> child(WorkflowType<I, O> type) {
    return children.of(Objects.requireNonNull(type, "type"));
  }

  @Override
  public <O> List<O> results(List<? extends ChildHandle<? extends O>> handles) {
    return children.results(handles);
  }

  @Override
  public ParallelBuilder parallel(String name) {
    return new RunParallelBuilder(this, name);
  }

  @Override
  public <R> List<R> parallel(String name, List<? extends Branch<? extends R>> branches) {
    return runParallel(name, branches, Integer.MAX_VALUE);
  }

  // Each result has its branch's type; null is allowed.
  @SuppressWarnings({"unchecked", "NullAway"})
  <R> List<R> runParallel(String name, List<? extends Branch<?>> branches, int maxParallel) {
    checkUse();
    String key = nextKey(name);
    Branches all = new Branches(this, workflowThread, key, List.copyOf(branches), maxParallel);
    return (List<R>) all.all(take(key, StepKind.STEP_KIND_UNSPECIFIED));
  }

  @Override
  @SuppressWarnings({"unchecked", "NullAway"})
  public <R> R race(String name, List<? extends Branch<? extends R>> branches) {
    checkUse();
    String key = nextKey(name);
    Branches all =
        new Branches(this, workflowThread, key, List.copyOf(branches), Integer.MAX_VALUE);
    return (R) all.first(take(key, StepKind.STEP_KIND_UNSPECIFIED));
  }

  boolean leavesOpenSteps() {
    return history.leavesOpenSteps();
  }

  void checkUse() {
    if (!Thread.currentThread().equals(workflowThread.thread())) {
      throw foreign();
    }
    checkUse(workflowThread);
  }

  private void checkUse(WorkflowThread workflowThread) {
    if (workflowThread.running() != null) {
      throw new ContextMisuseException(
          Misuse.INSIDE_STEP,
          "run %s: the context was used inside a step (expected: one step after the other; move the"
                  .formatted(task.getRunId())
              + " call out of the step's code)");
    }
    workflowThread.check();
    workflowThread.markContextUsed();
    if (workflowThread.state().isFinished()) {
      throw afterEnd();
    }
  }

  private ContextMisuseException afterEnd() {
    return new ContextMisuseException(
        Misuse.AFTER_END,
        "run %s: the context was used after the workflow had returned (expected: before)"
            .formatted(task.getRunId()));
  }

  private ContextMisuseException foreign() {
    WorkflowThread here = WorkflowThread.current();
    if (here == null && workflowThread.state().isFinished()) {
      return afterEnd();
    }
    if (here == null) {
      return new ContextMisuseException(
          Misuse.FOREIGN_THREAD,
          "run %s: the context was used in thread \"%s\" (expected: the thread that runs the workflow;"
                  .formatted(task.getRunId(), Thread.currentThread().getName())
              + " other threads belong inside a step)");
    }
    boolean sameRun = here.state().equals(workflowThread.state());
    return new ContextMisuseException(
        sameRun ? Misuse.OTHER_BRANCH : Misuse.OTHER_RUN,
        sameRun
            ? "run %s: the context was used in a branch that has its own (expected: the context that the branch was given)"
                .formatted(task.getRunId())
            : "run %s: the context was used by the code of another run (expected: each run uses its own)"
                .formatted(task.getRunId()));
  }

  @Override
  public Saga saga() {
    checkUse();
    workflowThread.state().sagaOpened();
    return new RunSaga(this, nextKey(SAGA));
  }

  @Override
  public Instant now() {
    checkUse();
    String key = nextKey(NOW);
    return steps.now(key, take(key, StepKind.STEP_KIND_FUNCTION), task);
  }

  @Override
  public Random random() {
    return derived.random();
  }

  @Override
  public UUID uuid() {
    return derived.uuid();
  }

  @Override
  public String runId() {
    return task.getRunId();
  }

  @Override
  public String workflowId() {
    return task.getExternalId();
  }

  @Override
  public int attempt() {
    return task.getAttempt();
  }

  @Override
  public String namespace() {
    return host.settings().namespace();
  }

  @Override
  public String queue() {
    return host.settings().queue();
  }

  @Override
  public String workflowType() {
    return task.getWorkflowType();
  }

  @Override
  public String version() {
    return task.getVersion();
  }

  @Override
  public Map<String, String> headers() {
    return task.getHeadersMap();
  }

  @Override
  public Logger logger() {
    Logger created = logger;
    if (created == null) {
      created =
          new ReplayLogger(
              LoggerFactory.getLogger("kagzi.workflow." + task.getWorkflowType()),
              this::isReplaying);
      logger = created;
    }
    return created;
  }

  @Override
  public Instant startedAt() {
    return ProtoMapper.instant(task.getCreatedAt());
  }

  @Override
  public boolean isReplaying() {
    return workflowThread.isReplayOnly() || (!workflowThread.isLive() && !history.isEmpty(scope));
  }
}
