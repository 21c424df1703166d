package dev.kagzi.engine;

import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.payload;
import static dev.kagzi.engine.TestEngine.stepDone;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.dispatch.Poll;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.run.Caller;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.RunEnd;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.WorkerId;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A standby that lacks the last commits is promoted while servers and workers live on. */
class LostCommitsTest extends LostCommitsFixture {
  @Test
  void a_claim_that_was_lost_is_not_valid_for_the_claim_that_is_given_instead() throws Exception {
    RunId run = one.start();
    save();
    Task lost = one.claimOne(first);
    loseCommitsSinceSave();

    Task given = other.claimOne(second);
    ReportResult late = one.report(stepDone(lost.claim(), "a", "1"));
    ReportResult lateEnd = one.report(done(lost.claim(), "1"));

    assertThat(given.claim().runId()).isEqualTo(run);
    assertThat(late).isInstanceOf(ReportResult.ClaimLost.class);
    assertThat(lateEnd).isInstanceOf(ReportResult.ClaimLost.class);
    assertThat(given.claim().epoch()).isGreaterThan(lost.claim().epoch());
    assertThat(other.report(done(given.claim(), "2")))
        .isEqualTo(new ReportResult.Accepted(RunStatus.COMPLETED));
  }

  @Test
  void a_worker_whose_reports_were_lost_loses_its_claim_at_once_and_without_a_crash()
      throws Exception {
    RunId run = one.start();
    Task before = one.claimOne(first);
    one.report(stepDone(before.claim(), "kept", "1"));
    save();
    one.report(stepDone(before.claim(), "lost", "2"));
    loseCommitsSinceSave();

    ReportResult next = one.report(stepDone(before.claim(), "next", "3"));
    Task given = other.claimOne(second);

    assertThat(next).isInstanceOf(ReportResult.ClaimLost.class);
    assertThat(given.claim().runId()).isEqualTo(run);
    assertThat(given.steps()).extracting(step -> step.stepKey()).containsExactly("kept");
    assertThat(one.run(run).crashes()).isZero();
    assertThat(given.claim().epoch()).isGreaterThan(before.claim().epoch());
  }

  @Test
  void a_start_that_was_lost_and_is_repeated_has_another_claim() throws Exception {
    RunId run = RunId.next();
    save();
    one.settle(first);
    Poll waiting = one.poll(first, 1);
    await(one.engine().runs().start(one.request("", run)));
    Task lost = await(waiting.tasks()).getFirst();
    loseCommitsSinceSave();

    other.settle(second);
    Poll again = other.poll(second, 1);
    long handedOver = other.engine().metrics().dispatch().handedOver();
    await(other.engine().runs().start(other.request("", run)));
    Task given = await(again.tasks()).getFirst();
    ReportResult late = one.report(done(lost.claim(), "1"));

    assertThat(other.engine().metrics().dispatch().handedOver()).isEqualTo(handedOver + 1);
    assertThat(given.claim().runId()).isEqualTo(run).isEqualTo(lost.claim().runId());
    assertThat(late).isInstanceOf(ReportResult.ClaimLost.class);
    assertThat(other.report(done(given.claim(), "2")))
        .isEqualTo(new ReportResult.Accepted(RunStatus.COMPLETED));
  }

  @Test
  void a_simple_client_whose_claim_was_lost_is_not_taken_for_the_holder() throws Exception {
    RunId run = one.start();
    save();
    pollSimple(one, first);
    loseCommitsSinceSave();
    pollSimple(other, second);

    CompletableFuture<?> late = begin(one, run, first);

    assertThat(late).failsWithin(LONG).withThrowableThat().withMessageContaining("claim lost");
    assertThat(begin(other, run, second)).succeedsWithin(LONG);
  }

  private static void pollSimple(TestEngine engine, WorkerId worker) {
    List<String> types = List.of(TestEngine.TYPE);
    Poll poll = engine.engine().tasks().pollOne(engine.queue(), worker, types, 10_000);
    assertThat(await(poll.tasks())).hasSize(1);
  }

  private static CompletableFuture<?> begin(TestEngine engine, RunId run, WorkerId worker) {
    Caller caller = new Caller(null, null, Set.of(worker));
    return engine
        .engine()
        .reports()
        .begin(TestEngine.NAMESPACE, run, "pay", StepKind.FUNCTION, null, null, 0, caller);
  }

  @Test
  void an_end_that_was_lost_is_not_answered_from_memory() throws Exception {
    RunId run = one.start();
    Task before = one.claimOne(first);
    save();
    one.report(done(before.claim(), "1"));
    assertThat(await(one.end(run))).map(RunEnd::output).contains(payload("1"));
    loseCommitsSinceSave();

    CompletableFuture<Optional<RunEnd>> end = one.end(run);
    other.report(done(other.claimOne(second).claim(), "2"));

    assertThat(await(end)).map(RunEnd::output).contains(payload("2"));
  }
}
