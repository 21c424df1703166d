package dev.kagzi.engine.run;

import dev.kagzi.engine.db.Database;
import dev.kagzi.engine.db.Session;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Starts that a disabled namespace refuses, unless they are repeated: whoever chose the run's id
 * and did not hear the first answer gets the same again. An external id does not say so much: the
 * run that has it may have been started by another call, and a disabled namespace accepts no call
 * that is new.
 *
 * <p>One look is made at a time, for all that wait by then: those who are refused must not take the
 * database from the others. Thread-safe.
 */
final class EarlierStarts {
  // The namespace is compared in a form that no index has: the primary key is to be taken.
  static final String SQL =
      """
      SELECT r.run_id
        FROM unnest(?::uuid[], ?::text[], ?::text[], ?::text[])
               AS n (run_id, namespace, workflow_type, external_id)
        JOIN kagzi.workflow_runs r
          ON r.run_id = n.run_id
         AND r.namespace || '' = n.namespace
         AND r.workflow_type || '' = n.workflow_type
         AND coalesce(r.external_id, '') = n.external_id
         AND r.cron_expr IS NULL
      """;

  private static final int WAITING_MAX = 10_000;

  private final Database database;
  private final ReentrantLock lock = new ReentrantLock();
  private List<Refused> waiting = new ArrayList<>();
  private boolean looking;

  EarlierStarts(Database database) {
    this.database = database;
  }

  private record Refused(
      StartRequest request, RunId runId, Refusal why, CompletableFuture<StartResult> answer) {}

  /** The answer to a start that cannot be made: at once, or when it is known whether it was. */
  CompletableFuture<StartResult> refuse(StartRequest request, Refusal why) {
    @Nullable RunId runId = request.runId();
    if (runId == null || why.code() != Refusal.Code.NAMESPACE_DISABLED) {
      return CompletableFuture.failedFuture(why);
    }
    Refused start = new Refused(request, runId, why, new CompletableFuture<>());
    lock.lock();
    try {
      if (waiting.size() >= WAITING_MAX) {
        return CompletableFuture.failedFuture(why);
      }
      waiting.add(start);
      if (!looking) {
        looking = true;
        // On a thread that may wait: the caller's may be one that moves everybody's bytes.
        Thread.ofVirtual().name("kagzi-earlier-starts").start(this::look);
      }
    } finally {
      lock.unlock();
    }
    return start.answer;
  }

  private void look() {
    for (List<Refused> starts = next(); !starts.isEmpty(); starts = next()) {
      answer(starts);
    }
  }

  /** What waits; if nothing does, nobody looks any more. */
  private List<Refused> next() {
    lock.lock();
    try {
      List<Refused> taken = waiting;
      waiting = new ArrayList<>();
      looking = !taken.isEmpty();
      return taken;
    } finally {
      lock.unlock();
    }
  }

  private void answer(List<Refused> starts) {
    try {
      Set<RunId> made = database.answer(session -> made(session, starts));
      for (Refused start : starts) {
        if (made.contains(start.runId)) {
          start.answer.complete(StartResult.made(start.runId));
        } else {
          start.answer.completeExceptionally(start.why);
        }
      }
    } catch (RuntimeException | Error e) {
      starts.forEach(start -> start.answer.completeExceptionally(e));
    }
  }

  private static Set<RunId> made(Session session, List<Refused> starts) throws SQLException {
    return new HashSet<>(
        session
            .query(SQL)
            .bindUuids(starts, start -> start.runId.value())
            .bindTexts(starts, start -> start.request.namespace())
            .bindTexts(starts, start -> start.request.workflowType())
            .bindTexts(starts, start -> start.request.externalId())
            .list(row -> new RunId(row.uuid("run_id"))));
  }
}
