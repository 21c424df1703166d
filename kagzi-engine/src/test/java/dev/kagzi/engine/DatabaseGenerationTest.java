package dev.kagzi.engine;

import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.stepDone;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.StartResult;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.WorkerId;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Servers detect that a database was promoted or restored, and that it was only restarted. */
class DatabaseGenerationTest extends LostCommitsFixture {
  private static final String IDENTITY_SQL =
      """
      SELECT s.system_identifier::text || '/'
               || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) || '/'
               || 'kagzi.database_generation'::regclass::oid::text
        FROM pg_control_system() AS s
      """;

  @Test
  void claims_increase_also_after_several_losses_and_new_runs_read_no_history() throws Exception {
    RunId run = one.start();
    save();
    loseCommitsSinceSave();
    Task once = one.claimOne(first);
    // The second generation is lost as well; the servers remember that it has begun.
    loseCommitsSinceSave();
    Task twice = other.claimOne(second);
    other.report(done(twice.claim(), "2"));
    RunId fresh = other.start();
    Task firstClaim = other.claimOne(second);

    assertThat(twice.claim().runId()).isEqualTo(run);
    assertThat(twice.claim().epoch()).isGreaterThan(once.claim().epoch());
    assertThat(firstClaim.claim().runId()).isEqualTo(fresh);
    assertThat(firstClaim.claim().isFirst()).isTrue();
    assertThat(one.report(done(once.claim(), "1"))).isInstanceOf(ReportResult.ClaimLost.class);
  }

  /**
   * The first new primary is lost too. The server that begins the generation of the second new
   * primary has never connected to the first one.
   */
  @Test
  void a_generation_with_the_number_of_a_lost_one_is_not_taken_for_it() throws Exception {
    RunId run = one.start();
    save();
    other.close();
    postgres.loseCommitsSinceSave();
    awaitConnected(one);
    Task lost = one.claimOne(first);
    int number = generation();
    connections.refuse();
    postgres.loseCommitsSinceSave();
    other = TestEngine.start(postgres.config(), "q", PATIENT);
    WorkerId third = other.register();
    // Sessions are opened in the background; the first one begins the generation.
    await().until(() -> generation() > 0);
    // Generation numbers are random. The test makes this one equal to the lost one.
    postgres.execute("UPDATE kagzi.database_generation SET generation = " + number);
    other.close();
    other = TestEngine.start(postgres.config(), "q", PATIENT);
    Task given = other.claimOne(third);
    assertThat(given.claim().runId()).isEqualTo(run);
    assertThat(given.claim()).isEqualTo(lost.claim());
    connections.accept();
    awaitConnected(one);

    assertThat(one.report(done(lost.claim(), "1"))).isInstanceOf(ReportResult.ClaimLost.class);
    assertThat(generation()).isGreaterThan(number);
    assertThat(other.claimOne(third).claim().epoch()).isGreaterThan(Claim.epochBase(generation()));
  }

  /** A former primary that has come back has the identity that it had before. */
  @Test
  void a_primary_of_an_earlier_generation_is_refused() throws Exception {
    one.start();
    int number = generation();
    String row =
        postgres.text(
            "SELECT format('generation = %s, identity = %L, lineage = %L', generation, identity,"
                + " lineage) FROM kagzi.database_generation");
    save();
    loseCommitsSinceSave();
    assertThat(generation()).isGreaterThan(number);

    postgres.execute("UPDATE kagzi.database_generation SET " + row);
    postgres.execute("UPDATE kagzi.database_generation SET identity = (" + IDENTITY_SQL + ")");
    connections.cut("");
    CompletableFuture<StartResult> start = one.engine().runs().start(one.request("", RunId.next()));

    assertThat(start).failsWithin(Duration.ofSeconds(20));
    assertThat(generation()).isEqualTo(number);
  }

  @Test
  void a_restored_dump_takes_all_claims() throws Exception {
    one.start();
    Task task = one.claimOne(first);

    // As pg_restore does: the table has another object id.
    postgres.execute(
        """
        ALTER TABLE kagzi.database_generation RENAME TO dumped;
        CREATE TABLE kagzi.database_generation AS SELECT * FROM kagzi.dumped;
        DROP TABLE kagzi.dumped
        """);
    postgres.restart();
    awaitBothConnected();

    assertThat(one.report(done(task.claim(), "1"))).isInstanceOf(ReportResult.ClaimLost.class);
    assertThat(other.claimOne(second).claim().epoch()).isGreaterThan(task.claim().epoch());
  }

  @Test
  void a_restart_without_a_new_timeline_takes_no_claim() throws Exception {
    one.start();
    Task task = one.claimOne(first);
    one.report(stepDone(task.claim(), "a", "1"));

    postgres.restart();
    awaitBothConnected();

    assertThat(one.report(stepDone(task.claim(), "b", "2")))
        .isEqualTo(new ReportResult.Accepted(RunStatus.RUNNING));
    assertThat(task.claim().epoch()).isEqualTo(1);
  }
}
