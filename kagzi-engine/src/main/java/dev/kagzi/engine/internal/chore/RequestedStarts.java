package dev.kagzi.engine.internal.chore;

import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.run.StartRequestRows;
import dev.kagzi.engine.internal.run.StartRequestRows.Refused;
import dev.kagzi.engine.internal.run.StartRequestRows.Requested;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.run.StartResult;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts the runs that rows of {@code start_requests} request. A row is locked until its run is
 * durable, and then deleted. If the server stops in between, the next one starts the run again with
 * the same run id, which has no second effect.
 */
final class RequestedStarts implements RequestPoller.Requests {
  private static final Logger log = LoggerFactory.getLogger(RequestedStarts.class);

  private final Function<List<StartRequest>, List<CompletableFuture<StartResult>>> starts;
  private final RetryPolicy defaults;

  /**
   * @param starts starts runs, with all checks of a client's start
   * @param defaults for fields that a retry policy leaves out
   */
  RequestedStarts(
      Function<List<StartRequest>, List<CompletableFuture<StartResult>>> starts,
      RetryPolicy defaults) {
    this.starts = starts;
    this.defaults = defaults;
  }

  @Override
  public int execute(Session tx, int max, long bytesMax) throws SQLException, InterruptedException {
    List<Requested> readable = new ArrayList<>();
    List<StartRequest> requests = new ArrayList<>();
    List<RunId> started = new ArrayList<>();
    List<Refused> refused = new ArrayList<>();
    for (Requested each : StartRequestRows.lock(tx, max, bytesMax, defaults)) {
      StartRequest request = each.request();
      Refusal unreadable = each.unreadable();
      if (request != null) {
        readable.add(each);
        requests.add(request);
      } else if (unreadable != null) {
        refused.add(refused(each.runId(), unreadable));
      }
    }
    List<CompletableFuture<StartResult>> answers =
        requests.isEmpty() ? List.of() : starts.apply(requests);
    for (int i = 0; i < answers.size(); i++) {
      RunId runId = readable.get(i).runId();
      switch (RequestPoller.answer(answers.get(i))) {
        case RequestPoller.Answer.Done<StartResult>(var result) when result.runId().equals(runId) ->
            started.add(runId);
        case RequestPoller.Answer.Done<StartResult>(var result) ->
            refused.add(existed(runId, result));
        case RequestPoller.Answer.Refused<StartResult>(var refusal) ->
            refused.add(refused(runId, refusal));
        case RequestPoller.Answer.None<StartResult> none -> {
          // The request stays, and is executed again.
        }
      }
    }
    StartRequestRows.delete(tx, started);
    StartRequestRows.refuse(tx, refused);
    return started.size() + refused.size();
  }

  @Override
  public void purgeRefused(Session session, long ageMs, int max) throws SQLException {
    StartRequestRows.purge(session, ageMs, max);
  }

  private static Refused existed(RunId runId, StartResult result) {
    return new Refused(
        runId,
        Refusal.Code.ID_IN_USE.name(),
        "run %s has the external id, so no other run was started".formatted(result.runId()));
  }

  private static Refused refused(RunId runId, Refusal refusal) {
    log.atWarn()
        .addKeyValue("run", runId)
        .addKeyValue("code", refusal.code())
        .addKeyValue("reason", refusal.getMessage())
        .log("a requested start was refused");
    return new Refused(runId, refusal.code().name(), String.valueOf(refusal.getMessage()));
  }
}
