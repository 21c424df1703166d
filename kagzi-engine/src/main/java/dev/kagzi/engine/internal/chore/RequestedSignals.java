package dev.kagzi.engine.internal.chore;

import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.run.SignalRequestRows;
import dev.kagzi.engine.internal.run.SignalRequestRows.Refused;
import dev.kagzi.engine.internal.run.SignalRequestRows.Requested;
import dev.kagzi.engine.run.SignalRequest;
import dev.kagzi.engine.run.SignalResult;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the signals that rows of {@code signal_requests} request. A row is locked until its signal
 * is durable, and then deleted. If the server stops in between, the next one sends the signal again
 * with the same id, which has no second effect.
 */
public final class RequestedSignals implements RequestPoller.Requests {
  private static final Logger log = LoggerFactory.getLogger(RequestedSignals.class);

  private final Send send;

  /** Sends a signal, with all checks of a client's signal. */
  @FunctionalInterface
  public interface Send {
    CompletableFuture<SignalResult> signal(String namespace, RunId run, SignalRequest signal);
  }

  RequestedSignals(Send send) {
    this.send = send;
  }

  @Override
  public int execute(Session tx, int max, long bytesMax) throws SQLException, InterruptedException {
    List<Requested> batch = SignalRequestRows.lock(tx, max, bytesMax);
    List<CompletableFuture<SignalResult>> answers = batch.stream().map(this::send).toList();
    List<Long> sent = new ArrayList<>();
    List<Refused> refused = new ArrayList<>();
    for (int i = 0; i < answers.size(); i++) {
      Requested request = batch.get(i);
      switch (RequestPoller.answer(answers.get(i))) {
        case RequestPoller.Answer.Done<SignalResult> done -> sent.add(request.no());
        case RequestPoller.Answer.Refused<SignalResult>(var refusal) ->
            refused.add(refused(request, refusal));
        case RequestPoller.Answer.None<SignalResult> none -> {
          // The request stays, and is executed again.
        }
      }
    }
    SignalRequestRows.delete(tx, sent);
    SignalRequestRows.refuse(tx, refused);
    return sent.size() + refused.size();
  }

  private CompletableFuture<SignalResult> send(Requested request) {
    SignalRequest signal = request.signal();
    if (signal == null) {
      return CompletableFuture.failedFuture(Objects.requireNonNull(request.tooLarge()));
    }
    try {
      return send.signal(request.namespace(), request.runId(), signal);
    } catch (Refusal refusal) {
      return CompletableFuture.failedFuture(refusal);
    }
  }

  @Override
  public void purgeRefused(Session session, long ageMs, int max) throws SQLException {
    SignalRequestRows.purge(session, ageMs, max);
  }

  private static Refused refused(Requested request, Refusal refusal) {
    log.atWarn()
        .addKeyValue("run", request.runId())
        .addKeyValue("code", refusal.code())
        .addKeyValue("reason", refusal.getMessage())
        .log("a requested signal was refused");
    return new Refused(request.no(), refusal.code().name(), String.valueOf(refusal.getMessage()));
  }
}
