package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.sdk.ChildBuilder;
import dev.kagzi.sdk.ChildFailedException;
import dev.kagzi.sdk.ChildHandle;
import dev.kagzi.sdk.ContextMisuseException;
import dev.kagzi.sdk.ContextMisuseException.Misuse;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.PayloadException;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Starts and awaits the children of a run. Only the thread of its context may start children; every
 * workflow thread of the run may await them.
 */
final class Children {
  private static final String STATUS = "status";

  private final RunContext context;
  private final WorkflowThread workflowThread;

  Children(RunContext context, WorkflowThread workflowThread) {
    this.context = context;
    this.workflowThread = workflowThread;
  }

  <I, O> ChildBuilder<I, O> of(WorkflowType<I, O> type) {
    return new Builder<>(type);
  }

  private final class Builder<I, O> implements ChildBuilder<I, O> {
    private final WorkflowType<I, O> type;
    private final StartWorkflowRequest.Builder start;

    Builder(WorkflowType<I, O> type) {
      this.type = type;
      this.start =
          StartWorkflowRequest.newBuilder()
              .setWorkflowType(type.name())
              .setVersion(type.version())
              .setTaskQueue(type.queue().equals(Kagzi.DEFAULT_QUEUE) ? "" : type.queue())
              .putAllHeaders(context.headers());
    }

    @Override
    public ChildBuilder<I, O> queue(String queue) {
      start.setTaskQueue(NameRules.check("queue", queue));
      return this;
    }

    @Override
    public ChildBuilder<I, O> retry(Retry retry) {
      start.setRetryPolicy(ProtoMapper.retryPolicy(retry));
      return this;
    }

    @Override
    public ChildBuilder<I, O> executionTimeout(Duration timeout) {
      start.setExecutionTimeoutMs(ProtoMapper.timeoutMs("executionTimeout", timeout));
      return this;
    }

    @Override
    public ChildBuilder<I, O> header(String name, String value) {
      start.putHeaders(name, value);
      return this;
    }

    @Override
    public ChildHandle<O> start(String name, I input) {
      return startOrReplay(name, input, false);
    }

    @Override
    public String startDetached(String name, I input) {
      return startOrReplay(name, input, true).runId();
    }

    private Child<O> startOrReplay(String name, I input, boolean detached) {
      context.checkUse();
      String key = context.nextKey(name);
      Child<O> child = new Child<>(key, type.outputType());
      RecordedStep recorded = context.take(key, StepKind.STEP_KIND_CHILD_WORKFLOW);
      int attempt = 1;
      if (recorded != null) {
        HistoryMismatch.requireKind(workflowThread, recorded, StepKind.STEP_KIND_CHILD_WORKFLOW);
        child.runId = recorded.getChildRunId();
        switch (recorded.getResultCase()) {
          case OUTPUT, FINAL_FAILURE -> {
            child.end = recorded;
            return child;
          }
          case OPEN -> {
            context.history().childBegan();
            return child;
          }
          // The child failed in an earlier attempt of this run; this attempt starts a new child.
          case RETRY -> attempt = recorded.getAttempt() + 1;
          case SLEEPS_MS, TIMED_OUT, RESULT_NOT_SET ->
              throw HistoryMismatch.unreadable(workflowThread, recorded);
        }
      }
      workflowThread.state().trace().child(key, start);
      start.setInput(context.payloads().encodeInput(input, type.inputType()));
      ReportItem.ChildStarted started =
          ReportItem.ChildStarted.newBuilder()
              .setStepKey(key)
              .setAttempt(attempt)
              .setStart(start)
              .setDetached(detached)
              .build();
      child.started =
          workflowThread
              .reports()
              .reportAsync(workflowThread.item().setChildStarted(started).build());
      if (!detached) {
        context.history().childBegan();
      }
      return child;
    }
  }

  private final class Child<O> implements ChildHandle<O> {
    private final String key;
    private final Type outputType;
    private volatile String runId = "";
    private volatile @Nullable ReportAnswer started;
    private volatile @Nullable RecordedStep end;

    private final AtomicBoolean endCounted = new AtomicBoolean();

    Child(String key, Type outputType) {
      this.key = key;
      this.outputType = outputType;
    }

    @Override
    public String step() {
      return key;
    }

    @Override
    public String runId() {
      ReportAnswer answer = started;
      if (answer != null) {
        ReportResult result = context.callingThread().reports().await(answer);
        if (!result.hasAccepted()) {
          // If this thread started the child, awaitDurable() stops the run for the reason in the
          // answer.
          context.callingThread().reports().awaitDurable();
          throw context.callingThread().end(new StopReason.StartOver());
        }
        runId = result.getAccepted().getChildRunId();
        started = null;
      }
      return runId;
    }

    @Override
    public O result() {
      await(List.of(this));
      return value();
    }

    // The codec decoded the value for exactly this type; null is allowed.
    @SuppressWarnings({"unchecked", "NullAway"})
    private O value() {
      RecordedStep step = end;
      if (step == null) {
        throw new IllegalStateException(
            "child " + key + ": no result (expected: one after it was awaited)");
      }
      if (step.hasFinalFailure()) {
        throw failed(step);
      }
      try {
        return (O) context.payloads().decode(step.getOutput(), outputType);
      } catch (PayloadException e) {
        throw HistoryMismatch.blocked(
            context.callingThread(),
            BlockReason.RESULT_UNREADABLE.name(),
            "child %s: result: %s".formatted(key, e.getMessage()),
            e);
      }
    }

    /** Stores the child's end; several branches may receive it, but it is counted once. */
    private void ended(RecordedStep step) {
      end = step;
      if (endCounted.compareAndSet(false, true)) {
        context.history().childEnded();
      }
    }

    private boolean isOf(WorkflowThread here) {
      return workflowThread.state().equals(here.state());
    }

    private ChildFailedException failed(RecordedStep step) {
      ErrorDetail error = step.getFinalFailure();
      RunStatus status = ProtoMapper.failedStatus(error.getMetadataOrDefault(STATUS, ""));
      ErrorDetail own = error.toBuilder().removeMetadata(STATUS).build();
      return new ChildFailedException(key, step.getChildRunId(), status, ProtoMapper.failure(own));
    }
  }

  <O> List<O> results(List<? extends ChildHandle<? extends O>> handles) {
    WorkflowThread here = context.callingThread();
    List<Child<?>> children = new ArrayList<>();
    for (ChildHandle<?> handle : handles) {
      if (!(handle instanceof Child<?> child)) {
        throw new IllegalArgumentException(
            "child: " + handle + " (expected: one that this run has started)");
      }
      if (!child.isOf(here)) {
        throw new ContextMisuseException(
            Misuse.OTHER_RUN,
            "run %s: child %s was started by another run, or by an execution of this one that is over (expected: one that this code has started)"
                .formatted(context.runId(), child.key));
      }
      children.add(child);
    }
    await(children);
    List<O> results = new ArrayList<>();
    handles.forEach(handle -> results.add(handle.result()));
    return results;
  }

  private void await(List<? extends Child<?>> children) {
    WorkflowThread here = context.callingThread();
    Map<String, Child<?>> open = new LinkedHashMap<>();
    for (Child<?> child : children) {
      RecordedStep end = child.end;
      if (end != null && Cancellation.isSeen(end)) {
        throw here.context().cancelled();
      }
    }
    for (Child<?> child : children) {
      if (child.end == null) {
        open.put(child.key, child);
      }
    }
    if (open.isEmpty()) {
      return;
    }
    here.awaitSteps(open.keySet())
        .forEach(
            (key, step) -> {
              Child<?> child = open.get(key);
              if (child != null) {
                child.ended(step);
              }
            });
  }
}
