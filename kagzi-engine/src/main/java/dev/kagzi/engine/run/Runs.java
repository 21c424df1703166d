package dev.kagzi.engine.run;

import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.journal.Journal;
import dev.kagzi.engine.internal.run.CancelRun;
import dev.kagzi.engine.internal.run.PreviousRun;
import dev.kagzi.engine.internal.run.ReservedIds;
import dev.kagzi.engine.internal.run.ResumeRun;
import dev.kagzi.engine.internal.run.RunWrite;
import dev.kagzi.engine.internal.run.SlotReservation;
import dev.kagzi.engine.internal.run.StartChecks;
import dev.kagzi.engine.internal.run.StartRun;
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
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Starts, cancels, retries and resumes runs. Thread-safe. {@link #retry} and {@link #startFor} may
 * read the database and block; the other methods do not block.
 */
public final class Runs {
  private final Database database;
  private final Journal<RunWrite<?>> journal;
  private final Namespaces namespaces;
  private final Limits limits;
  private final StartChecks checks;
  private final Versions versions;
  private final BiFunction<QueueName, TypeVersion, @Nullable SlotReservation> reserveSlot;

  /**
   * Creates the service.
   *
   * @param versions resolves the version of starts without one
   * @param reserveSlot reserves a slot of a polling worker for a run that is about to start; null
   *     if there is none
   */
  public Runs(
      Database database,
      Journal<RunWrite<?>> journal,
      Namespaces namespaces,
      Limits limits,
      StartChecks checks,
      Versions versions,
      BiFunction<QueueName, TypeVersion, @Nullable SlotReservation> reserveSlot) {
    this.database = database;
    this.journal = journal;
    this.namespaces = namespaces;
    this.limits = limits;
    this.checks = checks;
    this.versions = versions;
    this.reserveSlot = reserveSlot;
  }

  public CompletableFuture<StartResult> start(StartRequest request) {
    return startAll(List.of(request)).get(0);
  }

  /** Starts runs independently of each other. Returns one future per request, in order. */
  public List<CompletableFuture<StartResult>> startAll(List<StartRequest> requests) {
    for (StartRequest request : requests) {
      if (!namespaces.isCached(request.namespace())) {
        return startOnNewThread(requests);
      }
    }
    return startNow(requests);
  }

  /** Reads the namespace on a new thread: the caller may be a Netty event loop. */
  private List<CompletableFuture<StartResult>> startOnNewThread(List<StartRequest> requests) {
    CompletableFuture<List<CompletableFuture<StartResult>>> started =
        CompletableFuture.supplyAsync(
            () -> startNow(requests), Thread.ofVirtual().name("kagzi-start")::start);
    return IntStream.range(0, requests.size())
        .mapToObj(i -> started.thenCompose(answers -> answers.get(i)))
        .toList();
  }

  private List<CompletableFuture<StartResult>> startNow(List<StartRequest> requests) {
    List<CompletableFuture<StartResult>> answers = new ArrayList<>(requests.size());
    List<RunWrite<?>> writes = new ArrayList<>(requests.size());
    for (StartRequest requested : requests) {
      try {
        StartChecks.checkReserved(requested);
        check(requested);
        ReservedIds.check(requested.externalId());
        checkShard(requested);
        StartRequest request =
            requested.withVersion(
                versions.resolve(
                    requested.namespace(), requested.workflowType(), requested.version()));
        StartRun start = write(request, lineage(request));
        writes.add(start);
        answers.add(start.done());
      } catch (Refusal refusal) {
        StartRun repeated = repeated(requested, refusal);
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

  /** Starts a run that is linked to another run. Blocks if the namespace is not cached. */
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
   * A disabled namespace refuses new starts. But a client that lost the answer to an accepted start
   * must get it when it repeats the call with the same run id. Returns null if the refused start
   * cannot be a repeated one.
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

  /**
   * Runs with equal external ids share a shard, so that one unique index still sees all of them if
   * runs are spread over databases later.
   */
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
    if (!request.externalId().isEmpty()) {
      return RunId.next(shard(request));
    }
    StartOptions.Parent parent = request.options().parent();
    return parent == null ? RunId.next() : RunId.next(parent.run().shard());
  }

  private StartRun write(StartRequest request, StartRun.Lineage lineage) {
    RunId runId = runId(request);
    SlotReservation slot =
        reserveSlot.apply(
            new QueueName(request.namespace(), request.taskQueue()),
            new TypeVersion(request.workflowType(), request.version()));
    StartRun start = new StartRun(runId, request, lineage, slot);
    if (slot != null) {
      // A start that fails before the database must release the worker's slot.
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

  /** Cancels a run. The future completes when the run is cancelled or has ended before. */
  public CompletableFuture<CancelResult> cancel(String namespace, RunId run) {
    return append(new CancelRun(namespace, run, null));
  }

  /** Ends a run as FAILED with the given reason. Its failure handlers are not started. */
  public CompletableFuture<CancelResult> terminate(String namespace, RunId run, String reason) {
    limits.checkText("reason", reason);
    String message = reason.isEmpty() ? "terminated" : "terminated: " + reason;
    Failure why =
        new Failure(ErrorCode.UNSPECIFIED, message, true, 0, "", "", Map.of("type", "terminated"));
    return append(new CancelRun(namespace, run, why));
  }

  private CompletableFuture<CancelResult> append(CancelRun write) {
    journal.append(write);
    return write.done();
  }

  /**
   * Starts an ended run again as a new run, with the request of its start. If the old run, or
   * another one with its external id, is active, that run is returned instead. Blocks.
   *
   * @param newId chosen by the caller to make the call idempotent; null for a new id
   * @param version version of the new run; null: the version of the old run, empty: the type's
   *     default
   */
  public CompletableFuture<RetryResult> retry(
      String namespace, RunId run, @Nullable RunId newId, @Nullable String version) {
    limits.checkOptionalName("version", version);
    RunId id = newId == null ? RunId.next(run.shard()) : newId;
    PreviousRun previous =
        database
            .read(session -> PreviousRun.find(session, namespace, run, id))
            .orElseThrow(() -> Refusal.notFound("run", run));
    if (!previous.status().isFinal()) {
      return CompletableFuture.completedFuture(new RetryResult(run, true));
    }
    if (!previous.request().externalId().isEmpty()) {
      run.shard().require("new_run_id", id, "the run's id");
    }
    return startFor(
            withVersion(previous.request(), version),
            StartRun.Lineage.retryOf(run, previous.failedRun()))
        .thenApply(result -> new RetryResult(result.runId(), result.existed()));
  }

  private StartRequest withVersion(StartRequest request, @Nullable String version) {
    return version == null
        ? request
        : request.withVersion(
            versions.resolve(request.namespace(), request.workflowType(), version));
  }

  /**
   * Resumes a failed run from its recorded steps. Failures that its code has caught stay final.
   * Refuses a run that caught a failure, compensated and then ended with that failure, because
   * nothing is left to execute. Also refuses a run that was terminated, and a run whose external id
   * another active run has.
   *
   * @param attempt the failed attempt, which makes the call idempotent; null: the current one
   * @param force also resumes a run that compensated or was terminated: a terminated run continues,
   *     and in a run that failed by itself all failed steps are executed again, even those whose
   *     failures were caught
   */
  public CompletableFuture<ResumeResult> resume(
      String namespace, RunId run, @Nullable Integer attempt, boolean force) {
    ResumeRun resume = new ResumeRun(namespace, run, attempt, force);
    journal.append(resume);
    return resume.done();
  }
}
