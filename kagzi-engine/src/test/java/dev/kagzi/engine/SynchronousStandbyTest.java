package dev.kagzi.engine;

import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.run.StartResult;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * No call is answered before the synchronous standby has its commit, even after a lost connection.
 */
class SynchronousStandbyTest extends LostCommitsFixture {
  /** Commits of lanes: chores write too, and may wait as well. */
  private static final String WAITING_SQL =
      """
      SELECT pid FROM pg_stat_activity
       WHERE wait_event = 'SyncRep' AND (query = 'COMMIT' OR query LIKE '%kagzi.workflow_runs%')
      """;

  private static final String NAMES_SET_SQL =
      "SELECT (current_setting('synchronous_standby_names') <> '')::int";

  /**
   * The commit of a backend process that is ended while it waits for a synchronous standby is
   * visible, although the standby may not have it. A restart of PostgreSQL has the same effect.
   */
  @Test
  void an_end_that_is_sent_again_waits_for_the_synchronous_standby_too() throws Exception {
    one.start();
    Task task = one.claimOne(first);
    other.start();
    other.report(done(other.claimOne(second).claim(), "other"));
    setSynchronousStandby("'absent'");
    Report end = done(task.claim(), "1");

    CompletableFuture<List<ReportResult>> answer = accept(one, end);
    CompletableFuture<List<ReportResult>> again;
    try (Holds.Hold reconnects = connections.statement("pg_terminate_backend")) {
      Set<Integer> ended = endWaitingCommit();
      again = accept(other, end);
      reconnects.awaitReached();
      awaitWaitingForStandby(ended);
    }

    assertThat(answer).isNotDone();
    assertThat(again).isNotDone();
    setSynchronousStandby("DEFAULT");
    assertThat(await(answer)).containsExactly(new ReportResult.Accepted(RunStatus.COMPLETED));
    assertThat(await(again)).containsExactly(new ReportResult.Accepted(RunStatus.COMPLETED));
  }

  @Test
  void a_start_that_is_sent_again_waits_for_the_synchronous_standby_too() throws Exception {
    StartRequest request = one.request("", RunId.next());
    setSynchronousStandby("'absent'");

    CompletableFuture<StartResult> answer = one.engine().runs().start(request);
    Set<Integer> waiting = endWaitingCommit();
    waiting.addAll(awaitWaitingForStandby(waiting));
    CompletableFuture<StartResult> again = other.engine().runs().start(request);
    awaitWaitingForStandby(waiting);

    assertThat(answer).isNotDone();
    assertThat(again).isNotDone();
    setSynchronousStandby("DEFAULT");
    assertThat(await(answer).runId()).isEqualTo(request.runId());
    assertThat(await(again).runId()).isEqualTo(request.runId());
  }

  @Test
  void a_lane_that_loses_its_connection_does_not_make_a_waiting_commit_visible() throws Exception {
    StartRequest request = one.request("", RunId.next());
    setSynchronousStandby("'absent'");
    CompletableFuture<StartResult> answer = one.engine().runs().start(request);
    Set<Integer> waiting = awaitWaitingForStandby(Set.of());

    assertThat(connections.cut("INSERT INTO kagzi.workflow_runs")).isPositive();

    assertThat(answer).failsWithin(Duration.ofSeconds(20));
    assertThat(postgres.integers(WAITING_SQL)).containsAll(waiting);
    assertThat(postgres.integers("SELECT count(*)::int FROM kagzi.workflow_runs"))
        .containsExactly(0);
    setSynchronousStandby("DEFAULT");
    assertThat(await(one.engine().runs().start(request)).runId()).isEqualTo(request.runId());
  }

  private static CompletableFuture<List<ReportResult>> accept(TestEngine engine, Report report) {
    return engine.engine().reports().accept(TestEngine.NAMESPACE, List.of(report));
  }

  /** Ends the backend process whose commit waits for the standby. Returns its pid. */
  private Set<Integer> endWaitingCommit() throws Exception {
    Set<Integer> waiting = awaitWaitingForStandby(Set.of());
    for (int pid : waiting) {
      postgres.execute("SELECT pg_terminate_backend(" + pid + ")");
    }
    return waiting;
  }

  private void setSynchronousStandby(String name) throws Exception {
    postgres.execute("ALTER SYSTEM SET synchronous_standby_names = " + name);
    postgres.execute("SELECT pg_reload_conf()");
    await().until(() -> postgres.integers(NAMES_SET_SQL).contains(name.equals("DEFAULT") ? 0 : 1));
    // Backends wait for the standby as soon as the checkpointer has read the setting.
    postgres.execute("CHECKPOINT");
  }

  private Set<Integer> awaitWaitingForStandby(Set<Integer> others) {
    Set<Integer> found = new HashSet<>();
    await()
        .until(
            () -> {
              found.addAll(postgres.integers(WAITING_SQL));
              found.removeAll(others);
              return !found.isEmpty();
            });
    return found;
  }
}
