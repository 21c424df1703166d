package dev.kagzi.engine.run;

import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.journal.Journal;
import dev.kagzi.engine.internal.run.CancelRun;
import dev.kagzi.engine.internal.run.ChainCalls;
import dev.kagzi.engine.internal.run.PreviousRun;
import dev.kagzi.engine.internal.run.ReservedIds;
import dev.kagzi.engine.internal.run.ResumeRun;
import dev.kagzi.engine.internal.run.RunWrite;
import dev.kagzi.engine.internal.run.SignalRun;
import dev.kagzi.engine.internal.run.SlotReservation;
import dev.kagzi.engine.internal.run.StartChecks;
import dev.kagzi.engine.internal.run.StartRun;
import dev.kagzi.engine.namespace.Namespaces;
import dev.kagzi.engine.value.CallbackAnswer;
import dev.kagzi.engine.value.ErrorCode;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.Payload;
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
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Starts, signals, cancels, retries and resumes runs. Thread-safe. {@link #retry} and {@link
 * #startFor} may read the database and block; the other methods do not block.
 */
public final class Runs {
  private static final int SIGNAL_ROUNDS_MAX = 5;

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
        StartRequest request = checked(requested);
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

  /** Checks a start of a client; returns it with its version. */
  private StartRequest checked(StartRequest requested) {
    StartChecks.checkReserved(requested);
    check(requested);
    ReservedIds.check(requested.externalId());
    checkShard(requested);
    return requested.withVersion(
        versions.resolve(requested.namespace(), requested.workflowType(), requested.version()));
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
    return withReservation(request, slot -> new StartRun(runId, request, lineage, slot));
  }

  private StartRun withReservation(
      StartRequest request, Function<@Nullable SlotReservation, StartRun> write) {
    SlotReservation slot =
        reserveSlot.apply(
            new QueueName(request.namespace(), request.taskQueue()),
            new TypeVersion(request.workflowType(), request.version()));
    StartRun start = write.apply(slot);
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

  /**
   * Sends a signal to an open run. The future completes when the signal is durable. A signal with
   * the id of an earlier one of the run is not stored again, also after the end of the run. If the
   * run has continued as new, the signal goes to the last run of its chain.
   */
  public CompletableFuture<SignalResult> signal(String namespace, RunId run, SignalRequest signal) {
    checkSignal(signal);
    return signal(namespace, run, signal, "");
  }

  private CompletableFuture<SignalResult> signal(
      String namespace, RunId run, SignalRequest signal, String externalId) {
    return ChainCalls.follow(
        run, last -> append(new SignalRun(namespace, last, signal, externalId, limits)));
  }

  private void checkSignal(SignalRequest signal) {
    limits.checkSignalName("name", signal.name());
    if (CallbackAnswer.isSignalName(signal.name())) {
      throw Refusal.invalid(
          "name", signal.name(), "another beginning than callback:, which is for callbacks");
    }
    limits.checkExternalId("signal_id", signal.signalId());
    if (CallbackAnswer.isSignalName(signal.signalId())) {
      throw Refusal.invalid(
          "signal_id",
          signal.signalId(),
          "another beginning than callback:, which is for callbacks");
    }
    limits.checkPayload("payload", signal.payload());
  }

  /**
   * Answers a callback of an open run. The future completes when the answer is durable. A callback
   * that was answered before keeps its first answer, also after the end of the run. Does not check
   * that the run has made the callback: a caller without a token must check it first, with {@code
   * Queries.requireCallback}.
   *
   * @param stepKey the step that made the callback
   */
  public CompletableFuture<CallbackResult> answerCallback(
      String namespace, RunId run, String stepKey, CallbackAnswer answer) {
    limits.checkStepKey("step_key", stepKey);
    Payload payload = answer.stored();
    limits.checkPayload("payload", payload);
    String name = CallbackAnswer.signalName(stepKey);
    SignalRequest signal = new SignalRequest(name, payload, name);
    return append(new SignalRun(namespace, run, signal, "", limits))
        .thenApply(result -> new CallbackResult(result.failed(), result.known()));
  }

  private CompletableFuture<SignalResult> append(SignalRun write) {
    journal.append(write);
    return write.done();
  }

  /**
   * Sends a signal to the open run with the external id of the start. If there is none, starts one
   * with the signal, in one transaction. If a run with the external id has accepted a signal with
   * this id, returns that run, also after its end.
   */
  public CompletableFuture<SignalStartResult> signalOrStart(
      StartRequest request, SignalRequest signal) {
    checkSignal(signal);
    if (request.externalId().isEmpty()) {
      throw Refusal.invalid("external_id", "\"\"", "an id, by which open runs are found");
    }
    if (namespaces.isCached(request.namespace())) {
      return signalOrStartNow(request, signal);
    }
    return CompletableFuture.supplyAsync(
            () -> signalOrStartNow(request, signal), Thread.ofVirtual().name("kagzi-start")::start)
        .thenCompose(Function.identity());
  }

  private CompletableFuture<SignalStartResult> signalOrStartNow(
      StartRequest requested, SignalRequest signal) {
    StartRequest request = checked(requested);
    return signalOrStart(runId(request), request, signal, SIGNAL_ROUNDS_MAX);
  }

  /** Tries again if the run that was found has ended before it got the signal. */
  private CompletableFuture<SignalStartResult> signalOrStart(
      RunId newRun, StartRequest request, SignalRequest signal, int rounds) {
    StartRun start =
        withReservation(
            request, slot -> StartRun.withSignal(newRun, request, lineage(request), slot, signal));
    journal.append(start);
    return start
        .done()
        .thenCompose(
            started -> {
              if (start.isSignalStored()) {
                return CompletableFuture.completedFuture(
                    new SignalStartResult(newRun, true, false));
              }
              checkType(request, started);
              return signal(request.namespace(), started.runId(), signal, request.externalId())
                  .thenApply(
                      sent ->
                          new SignalStartResult(
                              sent.runId(), sent.runId().equals(newRun), sent.known()))
                  .exceptionallyCompose(
                      failure ->
                          rounds > 1 && hasEnded(failure)
                              ? signalOrStart(newRun, request, signal, rounds - 1)
                              : CompletableFuture.failedFuture(failure));
            });
  }

  private static boolean hasEnded(Throwable failure) {
    return ChainCalls.hasCode(failure, Refusal.Code.RUN_ENDED);
  }

  private static void checkType(StartRequest request, StartResult found) {
    String type = found.workflowType();
    if (!type.isEmpty() && !type.equals(request.workflowType())) {
      throw Refusal.of(
          Refusal.Code.ID_IN_USE,
          "run",
          found.runId().toString(),
          "external_id: %s is taken by run %s of type %s (expected: a run of type %s)"
              .formatted(
                  Refusal.shorten(request.externalId()),
                  found.runId(),
                  Refusal.shorten(type),
                  Refusal.shorten(request.workflowType())));
    }
  }

  /**
   * Cancels a run. If the code of the run cleans up after a cancel, the future completes when the
   * cancel is recorded, and the run ends later. Otherwise it completes when the run is cancelled,
   * or had ended before. If the run has continued as new, the last run of its chain is cancelled.
   */
  public CompletableFuture<CancelResult> cancel(String namespace, RunId run) {
    return ChainCalls.follow(run, last -> append(new CancelRun(namespace, last, null)));
  }

  /**
   * Ends a run as FAILED with the given reason. Its failure handlers are not started. If the run
   * has continued as new, the last run of its chain is ended.
   */
  public CompletableFuture<CancelResult> terminate(String namespace, RunId run, String reason) {
    limits.checkText("reason", reason);
    String message = reason.isEmpty() ? "terminated" : "terminated: " + reason;
    Failure why =
        new Failure(ErrorCode.UNSPECIFIED, message, true, 0, "", "", Map.of("type", "terminated"));
    return ChainCalls.follow(run, last -> append(new CancelRun(namespace, last, why)));
  }

  private CompletableFuture<CancelResult> append(CancelRun write) {
    journal.append(write);
    return write.done();
  }

  /**
   * Starts a new run with the request with which an ended run was started. If the old run, or
   * another one with its external id, is active, that run is returned instead. Refuses a run that
   * has continued as new. Blocks.
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
            .orElseThrow(() -> Refusal.notFound("run", run, namespace));
    if (previous.continuedTo() != null) {
      throw ChainCalls.notRepeatable(run, previous);
    }
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
