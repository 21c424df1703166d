package dev.kagzi.engine.internal.chore;

import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.run.RequestRows;
import dev.kagzi.engine.internal.run.RequestRows.Failed;
import dev.kagzi.engine.internal.run.RequestRows.Requested;
import dev.kagzi.engine.internal.run.SignalRequestRows;
import dev.kagzi.engine.internal.run.SignalRequestRows.RequestedSignal;
import dev.kagzi.engine.internal.run.StartRequestRows;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.SignalRequest;
import dev.kagzi.engine.run.SignalResult;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.run.StartResult;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Executes the requests of one kind. A row is locked until its start or signal is durable, and then
 * deleted. If the server stops in between, the next one executes the request again with the same
 * ids, which has no second effect.
 *
 * @param <K> the key of a row
 * @param <R> what a row requests
 */
public final class RequestExecutor<K, R> {
  private static final Logger log = LoggerFactory.getLogger(RequestExecutor.class);

  /** Less than the time after which PostgreSQL ends an idle transaction. */
  private static final long ANSWERS_NANOS_MAX = TimeUnit.SECONDS.toNanos(4);

  private static final int BATCH_MAX = 500;
  private static final long BATCH_BYTES_MAX = 8 << 20;

  /**
   * A request that keeps failing is logged once per this many attempts: at the longest pause
   * between attempts, once a minute.
   */
  private static final int ATTEMPTS_PER_LINE = 6;

  private final String kind;
  private final RequestRows<K, R> rows;
  private final Function<List<R>, List<CompletableFuture<?>>> execute;

  /** Sends a signal, with all checks of a client's signal. */
  @FunctionalInterface
  public interface Send {
    CompletableFuture<SignalResult> signal(String namespace, RunId run, SignalRequest signal);
  }

  private RequestExecutor(
      String kind, RequestRows<K, R> rows, Function<List<R>, List<CompletableFuture<?>>> execute) {
    this.kind = kind;
    this.rows = rows;
    this.execute = execute;
  }

  /**
   * Returns an executor of requested starts.
   *
   * @param starts starts runs, with all checks of a client's start
   * @param defaults for fields that a retry policy leaves out
   */
  static RequestExecutor<RunId, StartRequest> ofStarts(
      Function<List<StartRequest>, List<CompletableFuture<StartResult>>> starts,
      RetryPolicy defaults) {
    return new RequestExecutor<>(
        "start",
        new StartRequestRows(defaults),
        requests -> {
          List<CompletableFuture<StartResult>> answers = starts.apply(requests);
          List<CompletableFuture<?>> checked = new ArrayList<>(answers.size());
          for (int i = 0; i < answers.size(); i++) {
            RunId runId = requests.get(i).runId();
            checked.add(answers.get(i).thenAccept(result -> checkMade(runId, result)));
          }
          return checked;
        });
  }

  private static void checkMade(@Nullable RunId runId, StartResult result) {
    if (!result.runId().equals(runId)) {
      throw Refusal.of(
          Refusal.Code.ID_IN_USE,
          "run",
          result.runId().toString(),
          "run %s has the external id, so no other run was started".formatted(result.runId()));
    }
  }

  /** Returns an executor of requested signals. */
  static RequestExecutor<Long, RequestedSignal> ofSignals(Send send) {
    return new RequestExecutor<>(
        "signal",
        new SignalRequestRows(),
        requests -> {
          List<CompletableFuture<?>> answers = new ArrayList<>(requests.size());
          requests.forEach(request -> answers.add(sent(send, request)));
          return answers;
        });
  }

  private static CompletableFuture<?> sent(Send send, RequestedSignal request) {
    try {
      return send.signal(request.namespace(), request.runId(), request.signal())
          .exceptionallyCompose(
              failure -> CompletableFuture.failedFuture(explained(request, failure)));
    } catch (Refusal refusal) {
      return CompletableFuture.failedFuture(refusal);
    }
  }

  /** Names the refusal of the start as the reason why there is no run. */
  private static Throwable explained(RequestedSignal request, Throwable failure) {
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    return request.startRefusal() != null
            && cause instanceof Refusal refusal
            && refusal.code() == Refusal.Code.NOT_FOUND
        ? Refusal.of(
            Refusal.Code.NOT_FOUND,
            "run",
            request.runId().toString(),
            "%s, because its requested start was refused (%s)"
                .formatted(refusal.getMessage(), request.startRefusal()))
        : failure;
  }

  /**
   * Executes a batch of requests in this transaction; returns how many were executed or refused.
   */
  int execute(Session tx) throws SQLException, InterruptedException {
    List<Requested<K, R>> batch = rows.lock(tx, BATCH_MAX, BATCH_BYTES_MAX);
    List<CompletableFuture<?>> answers = answers(batch);
    long untilNanos = System.nanoTime() + ANSWERS_NANOS_MAX;
    List<K> executed = new ArrayList<>();
    List<Failed<K>> refused = new ArrayList<>();
    List<Failed<K>> postponed = new ArrayList<>();
    int repeated = 0;
    Requested<K, R> logged = null;
    Refusal loggedFailure = null;
    for (int i = 0; i < batch.size(); i++) {
      Requested<K, R> request = batch.get(i);
      Refusal failure = failure(answers.get(i), untilNanos);
      if (failure == null) {
        executed.add(request.key());
        repeated += request.attempts() > 0 ? 1 : 0;
      } else if (isFinal(failure)) {
        logRefused(request, failure);
        refused.add(failed(request, failure));
      } else {
        postponed.add(failed(request, failure));
        if (request.attempts() % ATTEMPTS_PER_LINE == 0) {
          logged = request;
          loggedFailure = failure;
        }
      }
    }
    logExecuted(repeated);
    logPostponed(logged, loggedFailure, postponed.size());
    rows.delete(tx, executed);
    rows.refuse(tx, refused);
    rows.postpone(tx, postponed);
    return executed.size() + refused.size();
  }

  /** Returns one answer for each request, in order. */
  private List<CompletableFuture<?>> answers(List<Requested<K, R>> batch) {
    List<R> readable = new ArrayList<>();
    for (Requested<K, R> each : batch) {
      if (each.request() != null) {
        readable.add(each.request());
      }
    }
    List<CompletableFuture<?>> executed = readable.isEmpty() ? List.of() : execute(readable);
    List<CompletableFuture<?>> answers = new ArrayList<>(batch.size());
    int next = 0;
    for (Requested<K, R> each : batch) {
      Refusal unreadable = each.unreadable();
      answers.add(
          unreadable == null ? executed.get(next++) : CompletableFuture.failedFuture(unreadable));
    }
    return answers;
  }

  /**
   * If the batch throws, executes its requests one by one, so that a bad request does not fail the
   * others.
   */
  private List<CompletableFuture<?>> execute(List<R> requests) {
    try {
      return execute.apply(requests);
    } catch (RuntimeException e) {
      if (requests.size() == 1) {
        return List.of(CompletableFuture.failedFuture(e));
      }
      List<CompletableFuture<?>> answers = new ArrayList<>(requests.size());
      requests.forEach(each -> answers.addAll(execute(List.of(each))));
      return answers;
    }
  }

  /** Returns why the request was not executed; null if it was. */
  private static @Nullable Refusal failure(CompletableFuture<?> answer, long untilNanos)
      throws InterruptedException {
    try {
      answer.get(Math.max(0, untilNanos - System.nanoTime()), TimeUnit.NANOSECONDS);
      return null;
    } catch (ExecutionException e) {
      return e.getCause() instanceof Refusal refusal
          ? refusal
          : Refusal.of(
              Refusal.Reason.INTERNAL, "", "", Refusal.shorten(String.valueOf(e.getCause())));
    } catch (TimeoutException late) {
      return Refusal.of(
          Refusal.Reason.UNAVAILABLE,
          "",
          "",
          "no answer within %d ms (expected: a commit of the database)"
              .formatted(TimeUnit.NANOSECONDS.toMillis(ANSWERS_NANOS_MAX)));
    }
  }

  /**
   * Whether another attempt would be refused, too. TOO_MANY_SIGNALS is not final, because the run
   * may receive buffered signals, and RUN_CONTINUED is not, because the chain may continue slower.
   */
  private static boolean isFinal(Refusal refusal) {
    return switch (refusal.code()) {
      case NAMESPACE_DISABLED, TOO_MANY_SIGNALS, RUN_CONTINUED, INTERNAL -> false;
      default ->
          refusal.reason() != Refusal.Reason.UNAVAILABLE
              && refusal.reason() != Refusal.Reason.RESOURCE_EXHAUSTED;
    };
  }

  private Failed<K> failed(Requested<K, R> request, Refusal failure) {
    return new Failed<>(request.key(), failure.code().name(), String.valueOf(failure.getMessage()));
  }

  private void logExecuted(int repeated) {
    if (repeated > 0) {
      log.atInfo()
          .addKeyValue("kind", kind)
          .addKeyValue("requests", repeated)
          .log("requests of applications that had to wait were executed");
    }
  }

  private void logRefused(Requested<K, R> request, Refusal refusal) {
    log.atWarn()
        .addKeyValue("kind", kind)
        .addKeyValue("run", request.runId())
        .addKeyValue("code", refusal.code())
        .addKeyValue("reason", refusal.getMessage())
        .log("a request of an application was refused");
  }

  /** One line for all requests of a batch: if the database is slow, there are many. */
  private void logPostponed(
      @Nullable Requested<K, R> one, @Nullable Refusal failure, int requests) {
    if (one != null && failure != null) {
      log.atWarn()
          .addKeyValue("kind", kind)
          .addKeyValue("requests", requests)
          .addKeyValue("run", one.runId())
          .addKeyValue("attempts", one.attempts() + 1)
          .addKeyValue("code", failure.code())
          .addKeyValue("reason", failure.getMessage())
          .log("requests of applications wait, trying again");
    }
  }

  void purgeRefused(Session session, long ageMs) throws SQLException {
    int unused = rows.purge(session, ageMs, BATCH_MAX);
  }
}
