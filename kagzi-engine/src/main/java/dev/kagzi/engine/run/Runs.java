package dev.kagzi.engine.run;

import dev.kagzi.engine.journal.Journal;
import dev.kagzi.engine.namespace.Namespaces;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.TypeVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** Starts and cancels runs. Thread-safe; nothing blocks. */
public final class Runs {
  private final Journal<RunWrite<?>> journal;
  private final Namespaces namespaces;
  private final Limits limits;
  private final BiFunction<QueueName, TypeVersion, @Nullable Handover> slots;

  /** {@code slots} finds a waiting worker for a run that is about to start. */
  public Runs(
      Journal<RunWrite<?>> journal,
      Namespaces namespaces,
      Limits limits,
      BiFunction<QueueName, TypeVersion, @Nullable Handover> slots) {
    this.journal = journal;
    this.namespaces = namespaces;
    this.limits = limits;
    this.slots = slots;
  }

  /** Completes when the run is durable. */
  public CompletableFuture<StartResult> start(StartRequest request) {
    return startAll(List.of(request)).get(0);
  }

  /** One future for each, in order. Each start stands for itself. */
  public List<CompletableFuture<StartResult>> startAll(List<StartRequest> requests) {
    for (StartRequest request : requests) {
      if (!namespaces.isAtHand(request.namespace())) {
        return startAside(requests);
      }
    }
    return startNow(requests);
  }

  /**
   * A namespace must be asked for: on a thread that may wait, since the caller's may be one that
   * moves everybody's bytes.
   */
  private List<CompletableFuture<StartResult>> startAside(List<StartRequest> requests) {
    List<CompletableFuture<StartResult>> answers = new ArrayList<>(requests.size());
    requests.forEach(request -> answers.add(new CompletableFuture<>()));
    Thread.ofVirtual()
        .name("kagzi-start")
        .start(
            () -> {
              try {
                List<CompletableFuture<StartResult>> begun = startNow(requests);
                for (int i = 0; i < begun.size(); i++) {
                  pass(begun.get(i), answers.get(i));
                }
              } catch (RuntimeException bug) {
                answers.forEach(answer -> answer.completeExceptionally(bug));
              }
            });
    return answers;
  }

  private static void pass(CompletableFuture<StartResult> from, CompletableFuture<StartResult> to) {
    from.whenComplete(
        (result, failure) -> {
          if (failure != null) {
            to.completeExceptionally(failure);
          } else {
            to.complete(result);
          }
        });
  }

  private List<CompletableFuture<StartResult>> startNow(List<StartRequest> requests) {
    List<CompletableFuture<StartResult>> answers = new ArrayList<>(requests.size());
    List<RunWrite<?>> writes = new ArrayList<>(requests.size());
    for (StartRequest request : requests) {
      try {
        check(request);
        StartRun start = write(request, StartRun.Lineage.CLIENT);
        writes.add(start);
        answers.add(start.done());
      } catch (Refusal refusal) {
        answers.add(CompletableFuture.failedFuture(refusal));
      }
    }
    if (!writes.isEmpty()) {
      journal.append(writes);
    }
    return answers;
  }

  /** Starts a run whose end is told to a step of another run. */
  public CompletableFuture<StartResult> startFor(StartRequest request, StartRun.Lineage lineage) {
    check(request);
    StartRun start = write(request, lineage);
    journal.append(start);
    return start.done();
  }

  private StartRun write(StartRequest request, StartRun.Lineage lineage) {
    RunId runId = request.runId() == null ? RunId.next() : request.runId();
    Handover slot =
        slots.apply(
            new QueueName(request.namespace(), request.taskQueue()),
            new TypeVersion(request.workflowType(), request.version()));
    StartRun start = new StartRun(runId, request, lineage, slot);
    if (slot != null) {
      // A start that never reaches the database must not keep a worker's slot.
      start
          .done()
          .whenComplete(
              (result, failure) -> {
                if (failure != null) {
                  slot.notStarted();
                }
              });
    }
    return start;
  }

  private void check(StartRequest request) {
    limits.checkName("namespace", request.namespace());
    limits.checkName("task_queue", request.taskQueue());
    limits.checkName("workflow_type", request.workflowType());
    limits.checkOptionalName("version", request.version());
    limits.checkExternalId("external_id", request.externalId());
    limits.checkPayload("input", request.input());
    namespaces.requireEnabled(request.namespace());
  }

  /** Completes when the run has ended, or has been found to have ended before. */
  public CompletableFuture<CancelResult> cancel(String namespace, RunId run) {
    CancelRun cancel = new CancelRun(namespace, run);
    journal.append(cancel);
    return cancel.done();
  }
}
