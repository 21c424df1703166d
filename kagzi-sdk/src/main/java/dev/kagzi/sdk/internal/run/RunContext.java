package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.sdk.Branch;
import dev.kagzi.sdk.Callback;
import dev.kagzi.sdk.ChildBuilder;
import dev.kagzi.sdk.ChildHandle;
import dev.kagzi.sdk.ContextMisuseException;
import dev.kagzi.sdk.ParallelBuilder;
import dev.kagzi.sdk.RunCancelledException;
import dev.kagzi.sdk.Saga;
import dev.kagzi.sdk.Signal;
import dev.kagzi.sdk.StepAction;
import dev.kagzi.sdk.StepBuilder;
import dev.kagzi.sdk.TypeRef;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.sdk.internal.wire.Payloads;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import dev.kagzi.sdk.jdbc.TransactionAction;
import dev.kagzi.sdk.jdbc.TransactionCode;
import dev.kagzi.sdk.jdbc.Transactions;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The context of a run's main code or of one branch. A call by a thread that may not use it throws
 * {@link ContextMisuseException}.
 */
final class RunContext implements WorkflowContext {
  private static final String SAGA = "saga";
  private static final String CLEAN_UP = "cleanup";

  private final RunHost host;
  private final Task task;
  private final WorkflowThread workflowThread;
  private final String scope;
  private final SlotHolders slotHolders;
  private final StepCalls stepCalls;
  private final Sleeps sleeps;
  private final Children children;
  private final Receives receives;
  private final Callbacks callbacks;
  private @Nullable Logger logger;
  private final History history;
  private final ContextUse use;
  private final ScopeHistory scopeHistory;
  private final DerivedValues derived;

  /** Where this code is in the run: positions of all undos that it registers begin with it. */
  private final UndoPosition position;

  /** Whether this is the context of an undo or a clean-up, which a cancel does not interrupt. */
  private final boolean cleansUp;

  private int undosRegistered;

  RunContext(
      RunHost host,
      Task task,
      History history,
      WorkflowThread workflowThread,
      SlotHolders slotHolders) {
    this(host, task, history, workflowThread, slotHolders, "", UndoPosition.START, false);
  }

  private RunContext(
      RunHost host,
      Task task,
      History history,
      WorkflowThread workflowThread,
      SlotHolders slotHolders,
      String scope,
      UndoPosition position,
      boolean cleansUp) {
    this.cleansUp = cleansUp;
    this.host = host;
    this.task = task;
    this.history = history;
    this.workflowThread = workflowThread;
    this.slotHolders = slotHolders;
    this.scope = scope;
    this.position = position;
    this.use = new ContextUse(task.getRunId(), workflowThread);
    this.scopeHistory =
        new ScopeHistory(scope, host.settings(), task, history, workflowThread, use);
    this.derived = new DerivedValues(task.getRunId(), scope, use::check);
    this.stepCalls = new StepCalls(this, scopeHistory, task, host.settings(), workflowThread);
    this.children = new Children(this, workflowThread);
    this.sleeps = new Sleeps(workflowThread, history);
    this.receives = new Receives(this, workflowThread);
    this.callbacks = new Callbacks(this, workflowThread);
  }

  /** Returns the context of the branch at this index of the group that was requested last. */
  RunContext branch(WorkflowThread branch, String scope, int index) {
    return new RunContext(
        host,
        task,
        history,
        branch,
        slotHolders,
        scope,
        position.inBranch(scopeHistory.keysGiven(), index),
        cleansUp);
  }

  /** Returns the context of an undo or a clean-up, which this thread executes. */
  RunContext undo(String scope) {
    return new RunContext(
        host, task, history, workflowThread, slotHolders, scope, nextUndoPosition(), true);
  }

  boolean cleansUp() {
    return cleansUp;
  }

  /**
   * Records that the code has learnt of the cancel, and returns the exception: {@code throw
   * cancelled()}.
   */
  RunCancelledException cancelled() {
    return use.cancelled();
  }

  WorkflowThread workflowThread() {
    return workflowThread;
  }

  UndoPosition nextUndoPosition() {
    return position.after(scopeHistory.keysGiven(), undosRegistered++);
  }

  /**
   * Starts the run over if branches were stopped. Only a replay finds out how far they have come in
   * the recorded history, and so which undos they have registered.
   */
  void startOverIfBranchesWereStopped() {
    if (!workflowThread.isReplayOnly() && workflowThread.hasStoppedBranches()) {
      workflowThread.reports().awaitDurable();
      throw workflowThread.end(new StopReason.StartOver());
    }
  }

  void awaitDurable() {
    workflowThread.reports().awaitDurable();
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

  ContextUse use() {
    return use;
  }

  /**
   * Returns the calling thread, which must be a workflow thread of this run. It may be the thread
   * of another branch than the one that this context belongs to.
   */
  WorkflowThread callingThread() {
    return use.callingThread();
  }

  String nextKey(String name) {
    return scopeHistory.nextKey(name);
  }

  /** Returns the recorded step, or null. The kind is unspecified for a group of branches. */
  @Nullable RecordedStep take(String key, StepKind kind) {
    return scopeHistory.take(key, kind);
  }

  /** Returns the recorded refusal of a call that records nothing else, or null. */
  @Nullable RecordedStep takeRefusal(String key) {
    return scopeHistory.takeRefusal(key);
  }

  /** Drops recorded steps with this key prefix; their branch will not run again. */
  void discard(String prefix) {
    scopeHistory.discard(prefix);
  }

  @Override
  public <T> T step(String name, Class<T> type, Callable<? extends T> code) {
    return stepCalls.execute(name, StepOptions.NONE, type, step -> code.call());
  }

  @Override
  public <T> T step(String name, TypeRef<T> type, Callable<? extends T> code) {
    return stepCalls.execute(name, StepOptions.NONE, type.type(), step -> code.call());
  }

  @Override
  public void step(String name, StepAction code) {
    stepCalls.executeAction(name, StepOptions.NONE, code);
  }

  @Override
  public StepBuilder step(String name) {
    return new RunStepBuilder(this, name);
  }

  StepCalls stepCalls() {
    return stepCalls;
  }

  @Override
  public void transaction(String name, DataSource dataSource, TransactionAction code) {
    transaction(name, Transactions.of(dataSource), code);
  }

  @Override
  public <T> T transaction(
      String name, DataSource dataSource, Class<T> type, TransactionCode<? extends T> code) {
    return transaction(name, Transactions.of(dataSource), type, code);
  }

  @Override
  @SuppressWarnings("NullAway") // A step without a result returns null.
  public void transaction(String name, Transactions transactions, TransactionAction code) {
    Object unused =
        transaction(
            name,
            transactions,
            Void.class,
            connection -> {
              code.run(connection);
              return null;
            });
  }

  @Override
  public <T> T transaction(
      String name, Transactions transactions, Class<T> type, TransactionCode<? extends T> code) {
    return stepCalls.transaction(name, StepOptions.NONE, transactions, type, code);
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
  public <T> T receive(Signal<T> signal) {
    return receives.receive(signal);
  }

  @Override
  public <T> Optional<T> receive(Signal<T> signal, Duration timeout) {
    return receives.receive(signal, timeout);
  }

  Receives receives() {
    return receives;
  }

  @Override
  public <T> Callback<T> callback(String name, Class<T> type) {
    return callbacks.callback(name, type);
  }

  @Override
  public <T> Callback<T> callback(String name, TypeRef<T> type) {
    return callbacks.callback(name, type.type());
  }

  @Override
  @SuppressWarnings("TypeParameterUnusedInFormals")
  public <O> O continueAsNew(Object input) {
    throw new ContinueAsNew(this, workflowThread).end(inputType(), input, null);
  }

  @Override
  @SuppressWarnings("TypeParameterUnusedInFormals")
  public <O> O continueAsNewWithVersion(String version, Object input) {
    Objects.requireNonNull(version, "version: null (expected: a text)");
    throw new ContinueAsNew(this, workflowThread).end(inputType(), input, version);
  }

  private Type inputType() {
    return Objects.requireNonNull(host.code(task), "code").type().inputType();
  }

  /** The key prefix of the branch, undo or clean-up with this context; empty for the main code. */
  String scope() {
    return scope;
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
    use.check();
  }

  /** Like {@link #checkUse}, for a call that the code may make after a cancel. */
  void checkCleanUp() {
    use.checkCleanUp();
  }

  @Override
  public Saga saga() {
    checkUse();
    workflowThread.state().sagaOpened();
    return new RunSaga(this, nextKey(SAGA));
  }

  @Override
  public void cleanup(String name, Consumer<? super WorkflowContext> code) {
    checkCleanUp();
    RunContext own = undo(nextKey(CLEAN_UP) + "[" + NameRules.checkBranch(name) + "]/");
    workflowThread.cleanUp(own, () -> code.accept(own));
  }

  @Override
  public Instant now() {
    return stepCalls.now();
  }

  @Override
  public void publish(String name, @Nullable Object value) {
    RunningStep step = workflowThread.running();
    boolean isInStep = step != null && Thread.currentThread().equals(workflowThread.thread());
    if (!isInStep) {
      checkUse();
    }
    Payload encoded = payloads().encodeAny(value);
    NameRules.check("name", name);
    if (step != null) {
      workflowThread.reports().publishInStep(step, scope, task.getEpoch(), name, encoded);
    } else if (!workflowThread.isReplayOnly()) {
      workflowThread.reports().publish(scope, name, encoded);
    }
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
