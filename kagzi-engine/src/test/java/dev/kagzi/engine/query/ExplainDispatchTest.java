package dev.kagzi.engine.query;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.payload;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.query.WaitCause.Code;
import dev.kagzi.engine.query.WaitCause.RefKind;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Why a run that is due is not on a worker yet. */
class ExplainDispatchTest extends ExplainFixture {

  @Test
  void no_worker_is_online_on_the_queue() {
    RunId run = engine.start();

    WaitCause cause = first(run, Code.NO_WORKER);

    assertThat(cause.text())
        .startsWith("No worker is online on queue " + queue + "; the run has been due since 20")
        .endsWith("Start one that serves order without a version.");
    assertThat(cause.refs()).containsExactly(ref(RefKind.QUEUE, queue));
    assertThat(cause.at()).isNotNull();
    assertThat(explain(run).status()).isEqualTo(RunStatus.PENDING);
  }

  @Test
  void an_offline_worker_does_not_count() {
    WorkerId worker = engine.register();
    await(engine.engine().workers().deregister(NAMESPACE, worker, false));
    RunId run = engine.start();

    first(run, Code.NO_WORKER);
  }

  @Test
  void workers_of_another_queue_suggest_that_the_queue_is_wrong() {
    engine.onQueue("the-other").register();
    RunId run = engine.start();

    assertThat(first(run, Code.NO_WORKER).text())
        .contains("workers of queue the-other serve this type")
        .contains("wrong queue?");
  }

  @Test
  void no_worker_serves_the_type() {
    WorkerId worker = engine.register();
    RunId run = start("refund", "");

    WaitCause cause = first(run, Code.NO_WORKER_FOR_TYPE);

    assertThat(cause.text())
        .contains("1 worker is online on queue " + queue)
        .contains("none serves the type refund; served there: order.")
        .endsWith("`kagzi.worker(\"" + queue + "\").workflow(TYPE, code).start()`.");
    assertThat(cause.refs()).contains(ref(RefKind.WORKER, worker));
  }

  @Test
  void no_worker_serves_the_version() {
    register(List.of(new TypeVersion(TYPE, "2"), new TypeVersion(TYPE, "3")), null, Map.of());
    RunId run = start(TYPE, "1");

    assertThat(first(run, Code.NO_WORKER_FOR_VERSION).text())
        .contains("serves version '1' of order; served there: '2', '3'.")
        .contains("kagzi workflow retry " + run + " --workflow-version VERSION");
  }

  @Test
  void the_only_served_version_is_suggested() {
    register(List.of(new TypeVersion(TYPE, "2")), null, Map.of());
    RunId run = engine.start();

    assertThat(first(run, Code.NO_WORKER_FOR_VERSION).text())
        .contains("serves version '' of order; served there: '2'.")
        .contains("--workflow-version '2'`");
  }

  @Test
  void all_workers_that_serve_it_drain() {
    WorkerId worker = engine.register();
    await(engine.engine().workers().drain(NAMESPACE, worker));
    RunId run = engine.start();

    assertThat(first(run, Code.WORKERS_DRAINING).refs()).contains(ref(RefKind.WORKER, worker));
  }

  @Test
  void all_workers_that_serve_it_are_silent() {
    WorkerId worker = engine.register();
    RunId run = engine.start();
    clock.ahead(Duration.ofSeconds(7));

    WaitCause cause = first(run, Code.WORKERS_SILENT);

    assertThat(cause.text()).containsPattern("The 1 worker that serves .* \\(7 s ago\\)");
    assertThat(cause.refs()).contains(ref(RefKind.WORKER, worker));
  }

  @Test
  void all_slots_are_taken_and_since_when() {
    WorkerId worker = registerWithSlots(2);
    engine.start();
    RunId first = engine.claimOne(worker).claim().runId();
    engine.start();
    RunId second = engine.claimOne(worker).claim().runId();
    RunId run = engine.start();
    clock.ahead(Duration.ofSeconds(2));

    WaitCause cause = first(run, Code.SLOTS_TAKEN);

    assertThat(cause.text())
        .contains("All 2 slots of the worker that serves order")
        .containsPattern("have been taken since \\S+ \\(for [2-5] s\\)");
    assertThat(cause.at()).isNotNull();
    assertThat(cause.text()).containsSubsequence(" Longest in them: run " + first, "run " + second);
    assertThat(cause.refs())
        .containsExactly(
            ref(RefKind.QUEUE, queue),
            ref(RefKind.WORKER, worker),
            ref(RefKind.RUN, first),
            ref(RefKind.RUN, second));
  }

  @Test
  void the_run_that_holds_the_slot_is_named_with_its_step() {
    WorkerId worker = registerWithSlots(1);
    StartRequest request =
        new StartRequest(
            NAMESPACE, "case-7", queue, TYPE, "", payload("1"), null, null, StartOptions.NONE);
    RunId holder = await(engine.engine().runs().start(request)).runId();
    Claim claim = engine.claimOne(worker).claim();
    engine.report(
        new Report.StepStarted(
            claim, "import", 1, StepKind.FUNCTION, null, 120_000_000, 600_000, null, "", null));
    RunId run = engine.start();

    WaitCause cause = first(run, Code.SLOTS_TAKEN);

    assertThat(cause.text())
        .containsPattern(
            " Longest in it: run %s \\(case-7\\) in step import since \\S+ \\(for 2 min"
                .formatted(holder));
    assertThat(cause.refs()).contains(ref(RefKind.RUN, holder));
  }

  @Test
  void three_of_many_runs_that_hold_slots_are_named() {
    WorkerId worker = registerWithSlots(5);
    for (int i = 0; i < 5; i++) {
      engine.start();
      engine.claimOne(worker);
    }

    assertThat(first(engine.start(), Code.SLOTS_TAKEN).refs())
        .filteredOn(ref -> ref.kind() == RefKind.RUN)
        .hasSize(3);
  }

  @Test
  void all_slots_of_the_type_are_taken() {
    WorkerId worker =
        register(List.of(new TypeVersion(TYPE, ""), new TypeVersion("x", "")), 5, Map.of(TYPE, 1));
    RunId ofOtherType = start("x", "");
    PollRequest.Wanted otherType = new PollRequest.Wanted("x", "", 0);
    await(
        engine
            .engine()
            .tasks()
            .poll(new PollRequest(engine.queue(), worker, List.of(otherType), 1, 10_000))
            .tasks());
    assertThat(engine.run(ofOtherType).status()).isEqualTo(RunStatus.RUNNING);
    RunId ofType = engine.start();
    engine.claimOne(worker);
    RunId run = engine.start();
    RunId other = start("x", "");

    WaitCause cause = first(run, Code.SLOTS_TAKEN);
    assertThat(cause.text()).startsWith("The only slot of the worker");
    assertThat(cause.refs())
        .contains(ref(RefKind.RUN, ofType))
        .doesNotContain(ref(RefKind.RUN, ofOtherType));
    first(other, Code.DUE);
  }

  @Test
  void the_position_in_the_queue_follows_the_first_cause() {
    engine.start();
    engine.start();
    RunId third = engine.start();

    assertThat(codes(third)).containsExactly(Code.NO_WORKER, Code.QUEUE_POSITION);
    assertThat(explain(third).causes().getLast().text())
        .isEqualTo("2 other runs of order on queue " + queue + " are due before it.");
  }

  @Test
  void a_due_run_with_a_free_slot_is_about_to_be_handed_out() {
    WorkerId worker = registerWithSlots(3);
    RunId run = engine.start();

    WaitCause cause = first(run, Code.DUE);

    assertThat(cause.text()).contains("about to be handed out: 1 worker with a free slot");
    assertThat(cause.refs()).contains(ref(RefKind.WORKER, worker));
  }

  @Test
  void a_worker_without_a_limit_decides_by_its_poll() {
    engine.register();
    RunId run = engine.start();

    assertThat(first(run, Code.DUE).text()).contains("1 worker without a limit");
  }

  @Test
  void nothing_else_is_said_about_a_due_run_of_a_disabled_namespace() {
    registerWithSlots(3);
    engine.start();
    RunId run = engine.start();
    assertThat(codes(run)).containsExactly(Code.DUE, Code.QUEUE_POSITION);
    engine.engine().namespaces().setEnabled(NAMESPACE, false, null);
    try {
      assertThat(codes(run)).containsExactly(Code.NAMESPACE_DISABLED);
      assertThat(explain(run).causes().getFirst().text())
          .startsWith(
              "Namespace default is disabled, so none of its runs is handed to a worker. `kagzi"
                  + " namespace enable default` enables it. This run has been due since 20");
    } finally {
      engine.engine().namespaces().setEnabled(NAMESPACE, true, null);
    }
  }
}
