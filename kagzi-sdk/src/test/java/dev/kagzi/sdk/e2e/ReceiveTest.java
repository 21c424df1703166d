package dev.kagzi.sdk.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.sdk.Branch;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RequestRefusedException;
import dev.kagzi.sdk.RunExistsException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunNotFoundException;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Signal;
import dev.kagzi.sdk.SignalInfo;
import dev.kagzi.sdk.StepInfo;
import dev.kagzi.sdk.TypeRef;
import dev.kagzi.sdk.Workflow;
import dev.kagzi.sdk.WorkflowType;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Signals as the code of workflows receives them. */
class ReceiveTest extends RealServerTest {
  private static final Signal<String> WORD = Signal.of("word", String.class);
  private static final Signal<List<Integer>> NUMBERS =
      Signal.of("numbers", new TypeRef<List<Integer>>() {});

  private RunHandle<String> run(Workflow<String, String> code) {
    kagzi.worker().workflow(type, code).start();
    return kagzi.workflow(type).start("Ada");
  }

  private static void awaitStatus(RunHandle<?> run, RunStatus status) {
    await().atMost(SOON).until(() -> run.status() == status);
  }

  @Test
  void a_parked_run_receives_signals_of_several_names_in_the_order_of_each() {
    RunHandle<String> run =
        run(
            (ctx, name) ->
                ctx.receive(WORD) + ctx.receive(NUMBERS) + ctx.receive(WORD) + ctx.receive(WORD));
    awaitStatus(run, RunStatus.SLEEPING);

    run.signal(WORD, "a");
    run.signal(WORD, "b");
    run.signal(NUMBERS, List.of(1, 2));
    run.signal(WORD, "c");

    assertThat(run.result(SOON)).isEqualTo("a[1, 2]bc");
    assertThat(run.history().steps())
        .extracting(StepInfo::key)
        .containsExactly("word", "numbers", "word#2", "word#3");
    assertThat(run.history().steps())
        .allSatisfy(step -> assertThat(step.kind()).isEqualTo(StepInfo.Kind.SIGNAL));
  }

  @Test
  void a_timeout_returns_empty_and_zero_takes_only_what_has_arrived() {
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              String first = ctx.receive(WORD, Duration.ZERO).orElse("nothing");
              String second = ctx.receive(WORD, Duration.ofMillis(300)).orElse("nothing");
              String third = ctx.receive(WORD, Duration.ofMillis(1_100)).orElse("nothing");
              ctx.sleep("nap", Duration.ofMillis(10));
              return first + " " + second + " " + third + " " + ctx.receive(WORD);
            });
    await()
        .atMost(SOON)
        .until(() -> run.history().steps().stream().anyMatch(s -> s.key().equals("nap")));
    run.signal(WORD, "late");

    assertThat(run.result(SOON)).isEqualTo("nothing nothing nothing late");
  }

  @Test
  void branches_that_wait_receive_one_signal_each() {
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              List<String> words =
                  ctx.parallel("ask", List.of(1, 2, 3), (branch, i) -> branch.receive(WORD));
              List<String> sorted = new ArrayList<>(words);
              sorted.sort(null);
              return String.join("", sorted);
            });
    awaitStatus(run, RunStatus.SLEEPING);
    for (String word : List.of("a", "b", "c")) {
      run.signal(WORD, word);
    }

    assertThat(run.result(SOON)).isEqualTo("abc");
    assertThat(run.signals()).allMatch(SignalInfo::isReceived);
  }

  @Test
  void a_signal_reaches_a_branch_while_another_one_works() {
    CountDownLatch received = new CountDownLatch(1);
    RunHandle<String> run =
        run(
            (ctx, name) ->
                String.join(
                    " ",
                    ctx.parallel(
                        "both",
                        List.of(
                            Branch.of(
                                "wait",
                                branch -> {
                                  String word = branch.receive(WORD);
                                  received.countDown();
                                  return word;
                                }),
                            Branch.of(
                                "work",
                                branch ->
                                    branch.step(
                                        "slow", String.class, () -> workUntil(received)))))));
    await().atMost(SOON).until(() -> !run.history().steps().isEmpty());
    run.signal(WORD, "heard");

    assertThat(run.result(SOON)).isEqualTo("heard worked");
  }

  private static String workUntil(CountDownLatch received) throws InterruptedException {
    return received.await(SOON.toSeconds(), TimeUnit.SECONDS) ? "worked" : "gave up";
  }

  @Test
  void a_signal_wins_a_race_against_a_sleep_and_a_loser_gives_back_what_it_received() {
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              String first =
                  ctx.race(
                      "first",
                      List.of(
                          Branch.of("person", branch -> branch.receive(WORD)),
                          Branch.of(
                              "timer",
                              branch -> {
                                branch.sleep("patience", Duration.ofHours(1));
                                return "expired";
                              })));
              String second =
                  ctx.race(
                      "second",
                      List.of(
                          Branch.of(
                              "slow",
                              branch -> {
                                String word = branch.receive(WORD);
                                branch.sleep("think", Duration.ofHours(1));
                                return "slow " + word;
                              }),
                          Branch.of(
                              "quick",
                              branch -> {
                                branch.sleep("blink", Duration.ofMillis(1_500));
                                return "quick";
                              })));
              return first + " " + second + " " + ctx.receive(WORD);
            });
    awaitStatus(run, RunStatus.SLEEPING);
    run.signal(WORD, "a", "id-a");
    run.signal(WORD, "b", "id-b");

    assertThat(run.result(SOON)).isEqualTo("a quick b");
    assertThat(run.signals())
        .extracting(signal -> signal.step().orElse(""))
        .containsExactly("first[person]/word", "word");
  }

  @Test
  void a_receive_has_one_span_although_the_run_is_suspended() throws Exception {
    try (OtlpCollector collector = new OtlpCollector();
        OpenTelemetrySdk telemetry = TracedWorkerProcess.telemetry(collector.endpoint(), "worker");
        Kagzi traced =
            Kagzi.builder().address(server.address()).openTelemetry(telemetry).connect()) {
      traced.worker().workflow(type, (ctx, name) -> ctx.receive(WORD)).start();
      RunHandle<String> run = traced.workflow(type).start("Ada");
      awaitStatus(run, RunStatus.SLEEPING);
      run.signal(WORD, "a");

      assertThat(run.result(SOON)).isEqualTo("a");
      await().atMost(SOON).until(() -> collector.spans("kagzi.run greet").size() == 2);
      assertThat(collector.spans("kagzi.receive"))
          .extracting(OtlpCollector.Received::name)
          .containsExactly("kagzi.receive word");
    }
  }

  @Test
  void signal_or_start_makes_one_run_and_a_repeated_id_is_received_once() {
    kagzi.worker().workflow(type, (ctx, name) -> name + ctx.receive(WORD)).start();
    String id = UUID.randomUUID().toString();

    RunHandle<String> first = kagzi.workflow(type).id(id).signalOrStart(WORD, "a", "e1", "in ");
    assertThat(first.result(SOON)).isEqualTo("in a");
    RunHandle<String> again = kagzi.workflow(type).id(id).signalOrStart(WORD, "a", "e1", "in ");
    RunHandle<String> next = kagzi.workflow(type).id(id).signalOrStart(WORD, "b", "e2", "in ");

    assertThat(first.existed()).isFalse();
    assertThat(again.runId()).isEqualTo(first.runId());
    assertThat(again.existed()).isTrue();
    assertThat(next.runId()).isNotEqualTo(first.runId());
    assertThat(next.result(SOON)).isEqualTo("in b");
    assertThatThrownBy(() -> kagzi.workflow(type).signalOrStart(WORD, "a", "in "))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("expected: an id");
  }

  @Test
  void signal_or_start_refuses_a_run_of_another_type() {
    String id = UUID.randomUUID().toString();
    RunHandle<String> other =
        kagzi
            .workflow(WorkflowType.of("other-" + type.name(), String.class, String.class))
            .id(id)
            .start("x");

    assertThatThrownBy(() -> kagzi.workflow(type).id(id).signalOrStart(WORD, "a", "in"))
        .isInstanceOf(RunExistsException.class)
        .hasMessageContaining(other.runId());
  }

  @Test
  void a_signal_to_an_ended_or_unknown_run_is_an_error_and_a_repeated_one_is_not() {
    RunHandle<String> run = run((ctx, name) -> ctx.receive(WORD));
    run.signal(WORD, "a", "id-a");
    assertThat(run.result(SOON)).isEqualTo("a");

    run.signal(WORD, "a", "id-a");
    assertThatThrownBy(() -> run.signal(WORD, "b"))
        .isInstanceOfSatisfying(
            RequestRefusedException.class, e -> assertThat(e.code()).isEqualTo("RUN_ENDED"));
    assertThatThrownBy(() -> kagzi.run(UUID.randomUUID().toString(), type).signal(WORD, "b"))
        .isInstanceOf(RunNotFoundException.class);
  }

  @Test
  void a_value_that_cannot_be_read_blocks_the_run() {
    RunHandle<String> run = run((ctx, name) -> "" + ctx.receive(NUMBERS));

    run.signal(Signal.of("numbers", String.class), "no numbers");

    await()
        .atMost(SOON)
        .untilAsserted(
            () ->
                assertThat(run.explain().causes())
                    .anySatisfy(cause -> assertThat(cause.code()).isEqualTo("BLOCKED")));
    assertThat(run.cancel()).isTrue();
  }

  @Test
  void an_explanation_names_the_signal_that_the_run_waits_for() {
    RunHandle<String> run = run((ctx, name) -> ctx.receive(WORD));
    awaitStatus(run, RunStatus.SLEEPING);

    assertThat(run.explain().causes())
        .singleElement()
        .satisfies(cause -> assertThat(cause.code()).isEqualTo("SIGNAL"));
    assertThat(run.cancel()).isTrue();
  }
}
