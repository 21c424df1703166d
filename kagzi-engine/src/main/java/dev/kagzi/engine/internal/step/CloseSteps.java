package dev.kagzi.engine.internal.step;

import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.value.Json;
import dev.kagzi.engine.internal.value.SleepSql;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.StepKind;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/** Closes open steps of runs that end, and reopens steps of resumed runs. */
public final class CloseSteps {
  /**
   * Fails the open steps of ended runs. Completed instead are sleeps that are over and, in a
   * completed run, the steps of children: the run started them and did not await them.
   */
  public static final String END_OPEN_SQL =
      """
      UPDATE kagzi.step_runs s
         SET status = CASE WHEN %1$s THEN 'COMPLETED' ELSE 'FAILED' END,
             final = (%1$s) IS NOT TRUE,
             error = CASE WHEN %1$s THEN NULL ELSE ?::jsonb END,
             finished_at = CASE WHEN %2$s THEN s.due_at ELSE t.now END
        FROM unnest(?::uuid[], ?::boolean[]) AS n (run_id, completed),
             (SELECT kagzi.clock() AS now) AS t
       WHERE s.run_id = n.run_id
         AND s.status IN ('RUNNING', 'PENDING')
      """
          .formatted(
              "(n.completed AND s.child_run_id IS NOT NULL OR %s)"
                  .formatted(SleepSql.isOver("s", "t.now")),
              SleepSql.isOver("s", "t.now"));

  /**
   * Reopens the sleeps and receives of resumed runs, whether the end of the run or a cancel had
   * closed them; they keep their wake time or timeout. A wait that is in the new attempt was
   * carried over to it: the code has caught the cancel there.
   */
  public static final String REOPEN_WAITS_SQL =
      """
      UPDATE kagzi.step_runs s
         SET status = 'RUNNING', final = false, error = NULL, finished_at = NULL
        FROM unnest(?::uuid[], ?::int[]) AS n (run_id, attempt)
       WHERE s.run_id = n.run_id
         AND s.kind IN ('SLEEP', 'SIGNAL')
         AND s.status = 'FAILED'
         AND (s.error = ?::jsonb OR (s.run_attempt < n.attempt AND s.due_at IS NOT NULL))
      """;

  /**
   * Deletes steps at which the code learnt of a cancel before they began. Steps of these kinds have
   * one attempt, so they must begin again as if they had never been called.
   */
  public static final String DELETE_NEVER_BEGUN_SQL =
      """
      DELETE FROM kagzi.step_runs s
       USING unnest(?::uuid[], ?::int[]) AS n (run_id, attempt)
       WHERE s.run_id = n.run_id
         AND s.kind IN ('SLEEP', 'SIGNAL', 'CALLBACK')
         AND s.status = 'FAILED'
         AND s.run_attempt < n.attempt
      """;

  /**
   * Reopens the child steps that the end of the resumed runs had closed, if the child is active or
   * completed. A child that ended otherwise is started again. If the child has continued as new,
   * the status of the last run of its chain decides.
   */
  public static final String REOPEN_CHILDREN_SQL =
      """
      UPDATE kagzi.step_runs s
         SET status = 'RUNNING', final = false, error = NULL, finished_at = NULL
        FROM unnest(?::uuid[]) AS n (run_id), kagzi.workflow_runs c
       WHERE s.run_id = n.run_id
         AND s.kind = 'CHILD_WORKFLOW'
         AND s.status = 'FAILED'
         AND s.error = ?::jsonb
         AND c.run_id = s.child_run_id
         AND CASE WHEN c.continued_to IS NULL THEN c.finished_at IS NULL OR c.status = 'COMPLETED'
                  ELSE (SELECT l.finished_at IS NULL OR l.status = 'COMPLETED'
                          FROM kagzi.workflow_runs l
                         WHERE l.first_run_id = c.run_id AND l.continued_to IS NULL
                         LIMIT 1) END
      """;

  /**
   * Deletes the receives of branches that lost their race: they count as never begun. With {@code
   * keeps_ended}, only those that have not ended.
   */
  public static final String DELETE_RECEIVES_SQL =
      """
      DELETE FROM kagzi.step_runs s
       USING unnest(?::uuid[], ?::text[], ?::boolean[]) AS n (run_id, scope, keeps_ended)
       WHERE s.run_id = n.run_id
         AND s.kind = 'SIGNAL'
         AND starts_with(s.step_id, n.scope)
         AND (s.status = 'RUNNING' OR NOT n.keeps_ended)
      """;

  private CloseSteps() {}

  /** A branch of a run; the scope is the common prefix of its step keys. */
  public record Scope(RunId runId, String scope, boolean keepsEnded) {
    /** Whether {@link #deleteReceives} deletes this step. */
    public boolean deletes(StepRow step) {
      return step.runId().equals(runId)
          && step.stepKey().startsWith(scope)
          && (keepsEnded ? step.isReceiving() : step.kind() == StepKind.SIGNAL);
    }
  }

  public static void deleteReceives(Session tx, Collection<Scope> scopes) throws SQLException {
    tx.query(DELETE_RECEIVES_SQL)
        .bindUuids(scopes, each -> each.runId().value())
        .bindTexts(scopes, Scope::scope)
        .bindBooleans(scopes, Scope::keepsEnded)
        .update();
  }

  /** Closes the open steps of runs that end; the map value is true for completed runs. */
  public static void endOpen(Session tx, Map<RunId, Boolean> runs, Failure why)
      throws SQLException {
    List<Map.Entry<RunId, Boolean>> all = List.copyOf(runs.entrySet());
    tx.query(END_OPEN_SQL)
        .bind(Json.encode(why))
        .bindUuids(all, run -> run.getKey().value())
        .bindBooleans(all, Map.Entry::getValue)
        .update();
  }

  /** Reopens child steps that were closed with this failure. Returns whether there were any. */
  public static boolean reopenChildren(Session tx, Collection<RunId> runs, Failure closedFor)
      throws SQLException {
    return tx.query(REOPEN_CHILDREN_SQL)
            .bindUuids(runs, RunId::value)
            .bind(Json.encode(closedFor))
            .update()
        > 0;
  }

  /**
   * Reopens waits that were closed with this failure or by a cancel, unless the code has caught the
   * cancel. Call it after the caught failures were carried over.
   *
   * @param attempts the resumed runs, each with its new attempt
   */
  public static void reopenWaits(Session tx, Map<RunId, Integer> attempts, Failure closedFor)
      throws SQLException {
    Collection<Map.Entry<RunId, Integer>> runs = attempts.entrySet();
    tx.query(REOPEN_WAITS_SQL)
        .bindUuids(runs, run -> run.getKey().value())
        .bindInts(runs, Map.Entry::getValue)
        .bind(Json.encode(closedFor))
        .update();
    tx.query(DELETE_NEVER_BEGUN_SQL)
        .bindUuids(runs, run -> run.getKey().value())
        .bindInts(runs, Map.Entry::getValue)
        .update();
  }
}
