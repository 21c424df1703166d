package dev.kagzi.engine.internal.chore;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.failed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Runs with many or large steps are deleted in slices, and their ids are taken until the end. */
class LongRunPurgeTest extends RetentionFixture {
  private static long tasks() {
    return number("SELECT count(*) FROM kagzi.maintenance_tasks");
  }

  /** As an older server did that had deleted the run. */
  private static void leaveSteps(RunId run, int count) {
    addSteps(run, count);
    database.execute(
        "INSERT INTO kagzi.maintenance_tasks (task) VALUES ('STEPS %s')".formatted(run));
  }

  @Test
  void the_steps_of_a_long_run_are_deleted_in_slices() {
    RunId old = finished(3);
    addSteps(old, 5_000);
    recordDeletedSteps();

    runUntil(chore(DAY), () -> rows(old) == 0);

    assertThat(number("SELECT sum(steps) FROM deleted")).isEqualTo(5_001);
    assertThat(number("SELECT max(steps) FROM deleted")).isBetween(100L, 2_000L);
    assertThat(tasks()).isZero();
  }

  @Test
  void deleting_a_run_of_a_hundred_thousand_steps_takes_only_short_transactions() {
    RunId old = finished(3);
    RunId other = finished(3);
    addSteps(old, 100_000);
    recordDeletedSteps();

    runUntil(chore(DAY), () -> rows(old) + rows(other) == 0);

    assertThat(number("SELECT sum(steps) FROM deleted")).isEqualTo(100_002);
    assertThat(number("SELECT max(steps) FROM deleted")).isLessThanOrEqualTo(2_000);
    // Some may be slow on a busy machine; most are not.
    assertThat(number("SELECT percentile_disc(0.8) WITHIN GROUP (ORDER BY held_ms) FROM deleted"))
        .isLessThan(100);
  }

  @Test
  void a_few_large_steps_are_deleted_in_slices_too() {
    RunId old = finished(3);
    // Each output takes a hundred TOAST rows; random bytes cannot be compressed.
    database.execute(
        """
        INSERT INTO kagzi.step_runs
               (run_id, step_id, attempt, epoch, run_attempt, kind, status, output, created_at)
        SELECT '%s', 'heavy#' || i, 1, 1, 1, 'FUNCTION', 'COMPLETED',
               (SELECT string_agg(sha256((i || '-' || j)::bytea), ''::bytea)
                  FROM generate_series(1, 6250) j), now()
          FROM generate_series(1, 50) i
        """
            .formatted(old));
    recordDeletedSteps();

    runUntil(chore(DAY), () -> rows(old) == 0);

    assertThat(number("SELECT sum(steps) FROM deleted")).isEqualTo(51);
    assertThat(number("SELECT max(steps) FROM deleted")).isBetween(1L, 20L);
  }

  private static void recordDeletedSteps() {
    database.execute("DROP TABLE IF EXISTS deleted");
    database.execute("CREATE TABLE deleted (steps bigint, held_ms bigint)");
    database.execute(
        """
        CREATE OR REPLACE FUNCTION note_deleted() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN
             INSERT INTO deleted
             SELECT count(*), extract(epoch FROM clock_timestamp() - now()) * 1000 FROM gone;
             RETURN NULL;
           END $$
        """);
    database.execute(
        """
        CREATE OR REPLACE TRIGGER note AFTER DELETE ON kagzi.step_runs
          REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION note_deleted()
        """);
  }

  @AfterEach
  void stopRecording() {
    database.execute("DROP TRIGGER IF EXISTS note ON kagzi.step_runs");
  }

  /** Executes a purge that fails when it has deleted a first slice of steps. */
  private static void purgeOneSlice(PurgeExpiredRuns chore) {
    recordDeletedSteps();
    database.execute(
        """
        CREATE OR REPLACE FUNCTION note_deleted() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN
             IF EXISTS (SELECT 1 FROM deleted) THEN
               RAISE EXCEPTION 'no second slice';
             END IF;
             INSERT INTO deleted SELECT count(*), 0 FROM gone;
             RETURN NULL;
           END $$
        """);
    assertThatThrownBy(chore::run).as("no second slice").hasMessageContaining("P0001");
    assertThat(number("SELECT sum(steps) FROM deleted")).isBetween(100L, 2_000L);
    database.execute("DROP TRIGGER note ON kagzi.step_runs");
  }

  private void start(RunId run) {
    await(engine.engine().runs().start(engine.request("", run)));
  }

  @Test
  void a_start_with_the_id_of_a_run_that_still_has_steps_finds_that_run() {
    RunId old = finished(3);
    addSteps(old, 5_000);
    purgeOneSlice(chore(DAY));

    start(old);
    assertThat(engine.run(old).status()).isEqualTo(RunStatus.COMPLETED);

    runUntil(chore(DAY), () -> rows(old) == 0);
    assertThat(tasks()).isZero();
    start(old);
    assertThat(engine.claimOne(worker).steps()).isEmpty();
  }

  @Test
  void a_run_that_has_lost_steps_cannot_be_resumed() {
    RunId old = engine.start();
    engine.report(failed(engine.claimOne(worker).claim(), "no money"));
    assertThat(engine.run(old).status()).isEqualTo(RunStatus.FAILED);
    age(old, 3);
    addSteps(old, 5_000);
    purgeOneSlice(chore(DAY));

    assertThatThrownBy(() -> await(engine.engine().runs().resume(NAMESPACE, old, null, true)))
        .isInstanceOfSatisfying(
            Refusal.class, why -> assertThat(why.reason()).isEqualTo(Refusal.Reason.NOT_FOUND));

    runUntil(chore(DAY), () -> rows(old) == 0);
  }

  @Test
  void steps_that_an_older_server_left_behind_are_deleted() {
    RunId gone = RunId.next();
    leaveSteps(gone, 10);

    chore(DAY).run();

    assertThat(rows(gone)).isZero();
    assertThat(tasks()).isZero();
  }

  @Test
  void steps_of_a_new_run_with_the_id_survive_a_slower_server() {
    RunId gone = RunId.next();
    leaveSteps(gone, 5_000);
    PurgeExpiredRuns slower = chore(DAY);
    purgeOneSlice(slower);
    runUntil(chore(DAY), () -> tasks() == 0);
    assertThat(rows(gone)).isZero();
    addSteps(gone, 10);

    slower.run();

    assertThat(rows(gone)).isEqualTo(10);
  }

  @Test
  void the_steps_of_a_locked_long_run_stay_while_the_next_run_is_deleted() {
    RunId old = finished(4);
    RunId next = finished(3);
    addSteps(old, 1_000);
    // Only the steps of the first run count for the size of a batch.
    database.execute(
        "DELETE FROM kagzi.workflow_payloads WHERE run_id IN ('%s', '%s')".formatted(old, next));
    database.execute("DELETE FROM kagzi.step_runs WHERE run_id = '%s'".formatted(next));
    long before = rows(old);
    database
        .open()
        .write(
            tx -> {
              tx.query("SELECT FROM kagzi.workflow_runs WHERE run_id = ? FOR NO KEY UPDATE")
                  .bind(old.value())
                  .list(row -> true);
              runUntil(chore(DAY), () -> rows(next) == 0);
              return true;
            });

    assertThat(rows(old)).isEqualTo(before);
    runUntil(chore(DAY), () -> rows(old) == 0);
  }
}
