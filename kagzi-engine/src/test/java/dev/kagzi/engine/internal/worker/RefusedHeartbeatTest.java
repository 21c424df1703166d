package dev.kagzi.engine.internal.worker;

import static dev.kagzi.engine.TestEngine.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.CapturedLog;
import dev.kagzi.engine.FamilyTest;
import dev.kagzi.engine.internal.db.DatabaseFailureLog;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.worker.HeartbeatResult;
import dev.kagzi.engine.worker.WorkerHeartbeat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Heartbeats of which the database refuses a part. */
class RefusedHeartbeatTest extends FamilyTest {
  private final CapturedLog log = CapturedLog.of(DatabaseFailureLog.class);

  @AfterEach
  void closeLog() {
    log.close();
  }

  private HeartbeatResult heartbeat(List<Claim> claims) {
    return await(heartbeatAsync(claims));
  }

  private CompletableFuture<HeartbeatResult> heartbeatAsync(List<Claim> claims) {
    return engine
        .engine()
        .workers()
        .heartbeat(new WorkerHeartbeat(worker, claims, 2, 0, 0, null, 0, 0));
  }

  private void leaveSecondsOnLease(RunId run, int seconds) {
    database.execute(
        "UPDATE kagzi.workflow_runs SET available_at = kagzi.clock() + interval '%d s'"
                .formatted(seconds)
            + " WHERE run_id = '"
            + run
            + "'");
  }

  /** Sets a lease so long that its end is not a valid time. */
  private void makeUnrenewable(RunId run) {
    database.execute(
        "UPDATE kagzi.workflow_runs SET heartbeat_timeout_ms = 9000000000000000000"
            + " WHERE run_id = '"
            + run
            + "'");
  }

  @Test
  void one_bad_run_does_not_stop_the_renewal_of_the_worker_and_its_other_runs() {
    engine.start();
    engine.start();
    Claim bad = engine.claimOne(worker).claim();
    Claim good = engine.claimOne(worker).claim();
    leaveSecondsOnLease(good.runId(), 5);
    makeUnrenewable(bad.runId());
    Claim gone = new Claim(RunId.next(), 1);

    HeartbeatResult result = heartbeat(List.of(bad, gone, good));

    assertThat(result.lost()).containsExactly(gone);
    assertThat(stored.dueMs(good.runId())).isGreaterThan(30_000);
    assertThat(log.lines())
        .singleElement()
        .asString()
        .startsWith("ERROR the database refused a value call=Heartbeat run=" + bad.runId())
        .contains("state=22008", "statement=SELECT n.worker_id, n.run_id", "out of range");
  }

  /** Not the data: a failing trigger, missing rights, a bug. The journal repeats the heartbeat. */
  @Test
  void a_heartbeat_that_fails_for_another_reason_is_an_error_with_worker_and_statement() {
    database.execute(
        """
        CREATE FUNCTION kagzi.reject() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'no' USING ERRCODE = 'P0001'; END $$;
        CREATE TRIGGER reject BEFORE UPDATE ON kagzi.workers EXECUTE FUNCTION kagzi.reject()
        """);
    CompletableFuture<HeartbeatResult> beat = heartbeatAsync(List.of());
    try {
      Awaitility.await().until(() -> !log.lines().isEmpty());
    } finally {
      database.execute("DROP TRIGGER reject ON kagzi.workers; DROP FUNCTION kagzi.reject()");
    }

    assertThat(await(beat).lost()).isEmpty();
    assertThat(log.lines())
        .singleElement()
        .asString()
        .startsWith("ERROR a statement failed call=Heartbeat ids=[" + worker + "] state=P0001")
        .contains("failures=1", "error=no", "statement=UPDATE kagzi.workers w");
  }

  @Test
  void a_heartbeat_that_is_refused_as_a_whole_is_an_error_with_worker_and_statement() {
    database.execute(
        """
        CREATE FUNCTION kagzi.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '22000'; END $$;
        CREATE TRIGGER refuse BEFORE UPDATE ON kagzi.workers EXECUTE FUNCTION kagzi.refuse()
        """);
    try {
      assertThatThrownBy(() -> heartbeat(List.of())).isInstanceOf(Refusal.class);
    } finally {
      database.execute("DROP TRIGGER refuse ON kagzi.workers; DROP FUNCTION kagzi.refuse()");
    }

    assertThat(log.lines())
        .singleElement()
        .asString()
        .startsWith("ERROR the database refused a value call=Heartbeat worker=" + worker)
        .contains("state=22000", "error=no", "statement=UPDATE kagzi.workers w");
  }
}
