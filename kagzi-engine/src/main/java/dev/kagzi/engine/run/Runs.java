package dev.kagzi.engine.run;

import dev.kagzi.engine.db.Database;
import dev.kagzi.engine.journal.Journal;
import dev.kagzi.engine.namespace.Namespaces;
import dev.kagzi.engine.value.ErrorCode;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.Shard;
import dev.kagzi.engine.value.TypeVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** Starts and cancels runs. Thread-safe; nothing blocks. */
public final class Runs {
  private final Database database;
  private final Journal<RunWrite<?>> journal;
  private final Namespaces namespaces;
  private final Limits limits;
  private final StartChecks checks;
  private final Versions versions;
  private final BiFunction<QueueName, TypeVersion, @Nullable SlotReservation> slots;

  /**
   * Starts nothing yet.
   *
   * @param versions of runs that are started without one
   * @param slots finds a waiting worker for a run that is about to start
   */
  public Runs(
      Database database,
      Journal<RunWrite<?>> journal,
      Namespaces namespaces,
      Limits limits,
      StartChecks checks,
      Versions versions,
      BiFunction<QueueName, TypeVersion, @Nullable SlotReservation> slots) {
    this.database = database;
    this.journal = journal;
    this.namespaces = namespaces;
    this.limits = limits;
    this.checks = checks;
    this.versions = versions;
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
    for (StartRequest wish : requests) {
      try {
        StartChecks.checkReserved(wish);
        check(wish);
        ReservedIds.check(wish.externalId());
        checkShard(wish);
        StartRequest request =
            wish.withVersion(
                versions.resolve(wish.namespace(), wish.workflowType(), wish.version()));
        StartRun start = write(request, lineage(request));
        writes.add(start);
        answers.add(start.done());
      } catch (Refusal refusal) {
        StartRun repeated = repeated(wish, refusal);
        if (repeated == null) {
          answers.add(CompletableFuture.failedFuture(refusal));
        } else {
          writes.add(repeated);
          answers.add(repeated.done());
        }
      }
    }
    if (!writes.isEmpty()) {
      journal.append(writes);
    }
    return answers;
  }

  /** Starts a run that comes from another. */
  public CompletableFuture<StartResult> startFor(StartRequest request, StartRun.Lineage lineage) {
    StartRun start;
    try {
      check(request);
      start = write(request, lineage);
    } catch (Refusal refusal) {
      start = repeated(request, refusal);
      if (start == null) {
        return CompletableFuture.failedFuture(refusal);
      }
    }
    journal.append(start);
    return start.done();
  }

  /**
   * A disabled namespace refuses new starts, but a client that lost the answer to an accepted start
   * must get that answer when it repeats the call with the same run id. Returns null if the refused
   * start cannot be such a repeat.
   */
  private static @Nullable StartRun repeated(StartRequest request, Refusal refusal) {
    RunId runId = request.runId();
    return runId == null || refusal.code() != Refusal.Code.NAMESPACE_DISABLED
        ? null
        : StartRun.repeated(runId, request, refusal);
  }

  private static StartRun.Lineage lineage(StartRequest request) {
    StartOptions.Parent parent = request.options().parent();
    return parent == null
        ? StartRun.Lineage.CLIENT
        : StartRun.Lineage.detachedFrom(parent.run(), parent.stepKey());
  }

  private void check(StartRequest request) {
    checks.check(request);
    StartOptions.Parent parent = request.options().parent();
    if (parent != null) {
      limits.checkStepKey("parent_step_id", parent.stepKey());
    }
    namespaces.requireEnabled(request.namespace());
  }

  /** Runs with equal external ids share a shard, so that one unique index sees all of them. */
  private static void checkShard(StartRequest request) {
    if (request.runId() != null && !request.externalId().isEmpty()) {
      shard(request).require("run_id", request.runId(), "namespace and external_id");
    }
  }

  private static Shard shard(StartRequest request) {
    return Shard.of(request.namespace(), request.externalId());
  }

  private static RunId runId(StartRequest request) {
    if (request.runId() != null) {
      return request.runId();
    }
    return request.externalId().isEmpty() ? RunId.next() : RunId.next(shard(request));
  }

  private StartRun write(StartRequest request, StartRun.Lineage lineage) {
    RunId runId = runId(request);
    SlotReservation slot =
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

  /** Completes when the run has ended, or has been found to have ended before. */
  public CompletableFuture<CancelResult> cancel(String namespace, RunId run) {
    return end(new CancelRun(namespace, run, null));
  }

  /** The same, and the run counts as failed for the given reason; nobody handles that failure. */
  public CompletableFuture<CancelResult> terminate(String namespace, RunId run, String reason) {
    limits.checkText("reason", reason);
    String message = reason.isEmpty() ? "terminated" : "terminated: " + reason;
    Failure why =
        new Failure(ErrorCode.UNSPECIFIED, message, true, 0, "", "", Map.of("type", "terminated"));
    return end(new CancelRun(namespace, run, why));
  }

  private CompletableFuture<CancelResult> end(CancelRun write) {
    journal.append(write);
    return write.done();
  }

  /**
   * Starts a run that has ended once more, as it was started then: a new run, unless the old one or
   * another with its external id is active. Blocks.
   *
   * @param newId chosen by the caller, who may then repeat the call safely; null for a new one
   * @param version of the new run; null for that of the old one, empty for the type's default
   */
  public CompletableFuture<RetryResult> retry(
      String namespace, RunId run, @Nullable RunId newId, @Nullable String version) {
    limits.checkOptionalName("version", version);
    RunId id = newId == null ? RunId.next(run.shard()) : newId;
    PreviousRun former =
        database
            .read(session -> PreviousRun.find(session, namespace, run, id))
            .orElseThrow(() -> Refusal.notFound("run", run));
    if (!former.status().isFinal()) {
      return CompletableFuture.completedFuture(new RetryResult(run, true));
    }
    if (!former.request().externalId().isEmpty()) {
      run.shard().require("new_run_id", id, "the run's id");
    }
    return startFor(
            inVersion(former.request(), version), StartRun.Lineage.retryOf(run, former.failedRun()))
        .thenApply(result -> new RetryResult(result.runId(), result.existed()));
  }

  /** The same in the version of the old run. */
  public CompletableFuture<RetryResult> retry(String namespace, RunId run, @Nullable RunId newId) {
    return retry(namespace, run, newId, null);
  }

  private StartRequest inVersion(StartRequest request, @Nullable String version) {
    return version == null
        ? request
        : request.withVersion(
            versions.resolve(request.namespace(), request.workflowType(), version));
  }

  /**
   * Lets a run that has failed go on where it was. A failure that its code had caught stays; a run
   * that undid its work and ended with that failure has nothing left to do and is refused, and so
   * is one that was terminated.
   *
   * @param attempt the one that failed, if the caller knows: then the call may be repeated safely
   * @param force refuses neither: what was terminated goes on, and where the run failed by itself
   *     every failed step is executed again, also one whose failure was caught
   */
  public CompletableFuture<ResumeResult> resume(
      String namespace, RunId run, @Nullable Integer attempt, boolean force) {
    ResumeRun resume = new ResumeRun(namespace, run, attempt, force);
    journal.append(resume);
    return resume.done();
  }
}
