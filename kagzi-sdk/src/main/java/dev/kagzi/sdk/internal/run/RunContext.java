package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.sdk.ContextMisuseException;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.StepAction;
import dev.kagzi.sdk.StepBuilder;
import dev.kagzi.sdk.TypeRef;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.internal.wire.Protos;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;

/** The context of one execution of one run. Belongs to the run's thread, and says so to others. */
final class RunContext implements WorkflowContext {
  private final RunHost host;
  private final Task task;
  private final Thread thread = Thread.currentThread();
  private final Progress progress;
  private final Steps steps;
  private final Sleeps sleeps;
  private final StepKeys keys = new StepKeys();
  private final Map<String, RecordedStep> history;

  RunContext(RunHost host, Task task, Map<String, RecordedStep> history, Progress progress) {
    this.host = host;
    this.task = task;
    this.history = history;
    this.progress = progress;
    this.steps = new Steps(host.payloads(), host.failures(), progress, task.getStepTimeoutMs());
    this.sleeps = new Sleeps(progress);
  }

  @Override
  public <T> T step(String name, Class<T> type, Callable<? extends T> code) {
    return execute(name, StepOptions.NONE, type, code);
  }

  @Override
  public <T> T step(String name, TypeRef<T> type, Callable<? extends T> code) {
    return execute(name, StepOptions.NONE, type.type(), code);
  }

  @Override
  public void step(String name, StepAction code) {
    executeAction(name, StepOptions.NONE, code);
  }

  @Override
  public StepBuilder step(String name) {
    return new Fluent(name);
  }

  private final class Fluent implements StepBuilder {
    private final String name;
    private StepOptions options = StepOptions.NONE;

    Fluent(String name) {
      this.name = name;
    }

    @Override
    public StepBuilder retry(Retry retry) {
      options = new StepOptions(Objects.requireNonNull(retry, "retry"), options.timeoutMs());
      return this;
    }

    @Override
    public StepBuilder timeout(Duration timeout) {
      options = new StepOptions(options.retry(), Protos.timeoutMs("timeout", timeout));
      return this;
    }

    @Override
    public <T> T run(Class<T> type, Callable<? extends T> code) {
      return execute(name, options, type, code);
    }

    @Override
    public <T> T run(TypeRef<T> type, Callable<? extends T> code) {
      return execute(name, options, type.type(), code);
    }

    @Override
    public void run(StepAction code) {
      executeAction(name, options, code);
    }
  }

  // The value is the code's own, or the codec made it for exactly this type; null stands for
  // itself.
  @SuppressWarnings({"unchecked", "NullAway", "TypeParameterUnusedInFormals"})
  private <T> T execute(String name, StepOptions options, Type type, Callable<?> code) {
    checkUse();
    String key = keys.next(name);
    return (T) steps.execute(new Steps.Call(key, options, type, code), history.remove(key));
  }

  private void executeAction(String name, StepOptions options, StepAction code) {
    Object unused =
        execute(
            name,
            options,
            Void.class,
            () -> {
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
    String key = keys.next(name);
    sleeps.sleep(key, history.remove(key), Protos.millis(duration));
  }

  @Override
  public void sleep(String name, String duration) {
    sleep(name, DurationText.parse(duration));
  }

  @Override
  public void sleepUntil(String name, Instant until) {
    checkUse();
    String key = keys.next(name);
    sleeps.sleepUntil(key, history.remove(key), Objects.requireNonNull(until, "until"));
  }

  /**
   * Whether the record shows steps as running that the code did not come by, since it has changed
   * or took another way. What it came by has ended with it.
   */
  boolean leavesOpenSteps() {
    for (RecordedStep step : history.values()) {
      if (step.hasOpen() || step.hasSleepsMs()) {
        return true;
      }
    }
    return false;
  }

  private void checkUse() {
    if (!Thread.currentThread().equals(thread)) {
      throw new ContextMisuseException(
          "run %s: the context was used in thread \"%s\" (expected: the thread that runs the workflow;"
                  .formatted(task.getRunId(), Thread.currentThread().getName())
              + " other threads belong inside a step)");
    }
    if (steps.isExecuting()) {
      throw new ContextMisuseException(
          "run %s: the context was used inside a step (expected: one step after the other; move the"
                  .formatted(task.getRunId())
              + " call out of the step's code)");
    }
    progress.check();
    if (progress.isFinished()) {
      throw new ContextMisuseException(
          "run %s: the context was used after the workflow had returned"
              .formatted(task.getRunId()));
    }
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
    return host.namespace();
  }

  @Override
  public String queue() {
    return host.queue();
  }

  @Override
  public String workflowType() {
    return task.getWorkflowType();
  }

  @Override
  public Instant startedAt() {
    return Protos.instant(task.getCreatedAt());
  }

  @Override
  public boolean isReplaying() {
    return !history.isEmpty();
  }
}
