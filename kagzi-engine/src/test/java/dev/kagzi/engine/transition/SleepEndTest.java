package dev.kagzi.engine.transition;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.failed;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.query.StepView;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RecordedStep.Result;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.StepStatus;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** Nothing records that a sleep is over: its row stays RUNNING, and all readers see its end. */
class SleepEndTest extends EngineFixture {
  private static final Instant PAST = Instant.parse("2001-02-03T04:05:06Z");
  private static final Instant FUTURE = Instant.parse("2190-01-01T00:00:00Z");

  /** Records two sleeps, of which one is over, and claims the run again. */
  private Task woken() {
    engine.start();
    Task task = engine.claimOne(worker);
    engine.report(new Report.Sleep(task.claim(), "over", null, PAST, true));
    engine.report(new Report.Sleep(task.claim(), "open", null, FUTURE, true));
    stored.expireLease(task.claim().runId());
    return engine.claimOne(worker);
  }

  private StepView view(RunId run, String step) {
    return engine.engine().queries().steps(NAMESPACE, run, step, PageSpec.FIRST).items().get(0);
  }

  private String stored(RunId run, String step) {
    return stored.text(
        "SELECT status || ' ' || coalesce(finished_at = due_at, false) AS value"
            + " FROM kagzi.step_runs WHERE run_id = '%s' AND step_id = '%s'".formatted(run, step));
  }

  @Test
  void a_claim_hands_out_the_end_of_a_sleep_and_writes_nothing() {
    Task task = woken();
    RunId run = task.claim().runId();

    assertThat(result(task, "over")).isEqualTo(new Result.Output(Payload.EMPTY));
    assertThat(result(task, "open")).isInstanceOf(Result.Sleeping.class);
    assertThat(stored(run, "over")).isEqualTo("RUNNING false");
  }

  @Test
  void lists_show_the_wake_time_as_the_end_of_the_sleep() {
    RunId run = woken().claim().runId();

    assertThat(view(run, "over").status()).isEqualTo(StepStatus.COMPLETED);
    assertThat(view(run, "over").finishedAt()).isEqualTo(PAST);
    assertThat(view(run, "open").status()).isEqualTo(StepStatus.RUNNING);
    assertThat(view(run, "open").finishedAt()).isNull();
  }

  @Test
  void a_failing_run_closes_the_open_sleep_as_failed_and_the_other_one_as_completed() {
    Task task = woken();
    RunId run = task.claim().runId();

    engine.report(failed(task.claim(), "boom"));

    assertThat(stored(run, "over")).isEqualTo("COMPLETED true");
    assertThat(stored(run, "open")).isEqualTo("FAILED false");
    assertThat(view(run, "over").error()).isNull();
    assertThat(view(run, "open").error()).isNotNull();
  }

  @Test
  void a_resumed_run_gets_the_open_sleep_back_and_keeps_the_end_of_the_other_one() {
    Task task = woken();
    RunId run = task.claim().runId();
    engine.report(failed(task.claim(), "boom"));

    await(engine.engine().runs().resume(NAMESPACE, run, null, false));
    Task resumed = engine.claimOne(worker);

    assertThat(result(resumed, "over")).isEqualTo(new Result.Output(Payload.EMPTY));
    assertThat(result(resumed, "open")).isInstanceOf(Result.Sleeping.class);
  }

  @Test
  void a_completed_run_shows_its_sleep_as_completed() {
    engine.start();
    Task task = engine.claimOne(worker);
    engine.report(new Report.Sleep(task.claim(), "over", null, PAST, true));

    engine.report(done(task.claim(), "\"ok\""));

    assertThat(view(task.claim().runId(), "over").status()).isEqualTo(StepStatus.COMPLETED);
  }
}
