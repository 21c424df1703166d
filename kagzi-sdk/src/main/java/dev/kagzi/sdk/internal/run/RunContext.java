package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.sdk.Branch;
import dev.kagzi.sdk.BranchFunction;
import dev.kagzi.sdk.BranchResult;
import dev.kagzi.sdk.ChildBuilder;
import dev.kagzi.sdk.ChildHandle;
import dev.kagzi.sdk.ContextMisuseException;
import dev.kagzi.sdk.ContextMisuseException.Misuse;
import dev.kagzi.sdk.ParallelBuilder;
import dev.kagzi.sdk.Retry;
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
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The context of a run's main code or of one branch. A call by a thread that may not use it throws
 * {@link ContextMisuseException}.
 */
final class RunContext implements WorkflowContext {
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

  RunContext(
      RunHost host,
      Task task,
      History history,
      WorkflowThread workflowThread,
      SlotHolders slotHolders) {
    this(host, task, history, workflowThread, slotHolders, "");
  }

  private RunContext(
      RunHost host,
      Task task,
      History history,
      WorkflowThread workflowThread,
      SlotHolders slotHolders,
      String scope) {
    this.host = host;
    this.task = task;
    this.history = history;
    this.workflowThread = workflowThread;
    this.slotHolders = slotHolders;
    this.scope = scope;
    this.check = history.check(scope);
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

  RunContext branch(WorkflowThread branch, String scope) {
    return new RunContext(host, task, history, branch, slotHolders, scope);
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
    return scope + keys.next(name);
  }

  /** Returns the recorded step, or null. The kind is unspecified for a group of branches. */
  @Nullable RecordedStep take(String key, StepKind kind) {
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
    return new ContextStepBuilder(name);
  }

  private final class ContextStepBuilder implements StepBuilder {
    private final String name;
    private StepOptions options = StepOptions.NONE;

    ContextStepBuilder(String name) {
      this.name = name;
    }

    @Override
    public StepBuilder retry(Retry retry) {
      options = options.withRetry(Objects.requireNonNull(retry, "retry"));
      return this;
    }

    @Override
    public StepBuilder timeout(Duration timeout) {
      options = options.withTimeoutMs(ProtoMapper.timeoutMs("timeout", timeout));
      return this;
    }

    @Override
    public StepBuilder input(@Nullable Object input) {
      Payloads payloads = host.settings().payloads();
      options =
          options.withInput(
              new StepInput(
                  payloads.encodeAny(input),
                  payloads.fingerprint(input),
                  hash -> payloads.hasFingerprint(input, hash)));
      return this;
    }

    @Override
    public <T> T execute(Class<T> type, StepCode<? extends T> code) {
      return RunContext.this.execute(name, options, type, code);
    }

    @Override
    public <T> T execute(TypeRef<T> type, StepCode<? extends T> code) {
      return RunContext.this.execute(name, options, type.type(), code);
    }

    @Override
    public <T> T run(Class<T> type, Callable<? extends T> code) {
      return RunContext.this.execute(name, options, type, step -> code.call());
    }

    @Override
    public <T> T run(TypeRef<T> type, Callable<? extends T> code) {
      return RunContext.this.execute(name, options, type.type(), step -> code.call());
    }

    @Override
    public void run(StepAction code) {
      executeAction(name, options, code);
    }
  }

  // The codec decoded the value for exactly this type; null is allowed.
  @SuppressWarnings({"unchecked", "NullAway", "TypeParameterUnusedInFormals"})
  private <T> T execute(String name, StepOptions options, Type type, StepCode<?> code) {
    checkUse();
    String key = nextKey(name);
    return (T)
        steps.execute(
            new Steps.Call(name, key, options, type, code), take(key, StepKind.STEP_KIND_FUNCTION));
  }

  @SuppressWarnings("NullAway") // A step without a result returns null.
  private void executeAction(String name, StepOptions options, StepAction code) {
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
    return new ContextParallelBuilder(name);
  }

  private final class ContextParallelBuilder implements ParallelBuilder {
    private final String name;
    private int maxParallel = Integer.MAX_VALUE;

    ContextParallelBuilder(String name) {
      this.name = name;
    }

    @Override
    public ParallelBuilder maxParallel(int branches) {
      if (branches < 1) {
        throw new IllegalArgumentException("maxParallel: " + branches + " (expected: >= 1)");
      }
      this.maxParallel = branches;
      return this;
    }

    @Override
    public <T, R> List<R> each(
        Collection<? extends T> items, BranchFunction<? super T, ? extends R> code) {
      return runParallel(name, branches(items, code), maxParallel);
    }

    @Override
    public <T, R> List<BranchResult<R>> collectAll(
        Collection<? extends T> items, BranchFunction<? super T, ? extends R> code) {
      List<Branch<?>> collected = new ArrayList<>(items.size());
      branches(items, code).forEach(branch -> collected.add(branch.collected()));
      return runParallel(name, collected, maxParallel);
    }

    private <T> List<Branch<?>> branches(
        Collection<? extends T> items, BranchFunction<? super T, ?> code) {
      List<Branch<?>> branches = new ArrayList<>(items.size());
      for (T item : items) {
        branches.add(
            Branch.of(Integer.toString(branches.size()), branch -> code.run(branch, item)));
      }
      return branches;
    }
  }

  @Override
  public <R> List<R> parallel(String name, List<? extends Branch<? extends R>> branches) {
    return runParallel(name, branches, Integer.MAX_VALUE);
  }

  // Each result has its branch's type; null is allowed.
  @SuppressWarnings({"unchecked", "NullAway"})
  private <R> List<R> runParallel(
      String name, List<? extends Branch<?>> branches, int maxParallel) {
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
    return !workflowThread.isLive() && !history.isEmpty(scope);
  }
}
