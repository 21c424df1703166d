package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.sdk.Branch;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunExplanation;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Runs that are stuck for different reasons, and what the command prints about each. */
@SuppressWarnings("try") // the workers work while they are open
class WorkflowWhyTest extends ServedCommandTest {
  private static final Duration HOUR = Duration.ofHours(1);

  private static WorkflowType<String, String> type(String name) {
    return WorkflowType.of(name, String.class, String.class).queue("why");
  }

  private static final WorkflowType<String, String> SERVED = type("served");
  private static final WorkflowType<String, String> CHILD = type("child").queue("nobody-here");

  /** A run and a part of the answer to the question why it does not continue. */
  private record Stuck(String run, String code, String text) {}

  private static Stuck stuck(RunHandle<?> run, String code, String text) {
    return new Stuck(run.runId(), code, text);
  }

  @Test
  void ten_runs_that_are_stuck_for_ten_reasons_are_explained() {
    CountDownLatch end = new CountDownLatch(1);
    WorkflowType<Integer, String> number =
        WorkflowType.of("changed", Integer.class, String.class).queue("why");
    try (Kagzi disabled = Kagzi.builder().address(address()).namespace("stopped").connect();
        Worker busy =
            kagzi
                .worker()
                .workflow(
                    type("busy").queue("full"),
                    (ctx, input) -> ctx.step("long", String.class, () -> awaited(end)))
                .maxConcurrent(1)
                .start();
        Worker worker =
            kagzi
                .worker()
                .workflow(SERVED, (ctx, input) -> input)
                .workflow(number, (ctx, input) -> "never")
                .workflow(
                    type("sleeps"),
                    (ctx, input) -> {
                      ctx.sleep("cool-off", HOUR);
                      return input;
                    })
                .workflow(
                    type("retries"),
                    (ctx, input) ->
                        ctx.step("charge")
                            .retry(Retry.fixed(5, HOUR))
                            .run(
                                String.class,
                                () -> {
                                  throw new IllegalStateException("card refused");
                                }))
                .workflow(type("parent"), (ctx, input) -> ctx.child(CHILD).run("pack", input))
                .workflow(
                    type("branches"),
                    (ctx, input) -> {
                      ctx.parallel(
                          "both",
                          Branch.of("nap", WorkflowWhyTest::slept),
                          Branch.of("kid", branch -> branch.child(CHILD).run("kid", "x")));
                      return input;
                    })
                .workflow(
                    type("whole"),
                    (ctx, input) -> {
                      throw new IllegalStateException("no stock");
                    })
                .start()) {
      kagzi.namespaces().create("stopped");
      RunHandle<String> running = kagzi.workflow(type("busy").queue("full")).start("a");
      await().atMost(SOON).until(() -> running.status() == RunStatus.RUNNING);
      RunHandle<String> inDisabled = disabled.workflow(SERVED).start("a");
      kagzi.namespaces().disable("stopped");
      Map<String, Stuck> runs = new LinkedHashMap<>();
      runs.put("no worker", stuck(kagzi.workflow(CHILD).start("a"), "NO_WORKER", "nobody-here"));
      runs.put(
          "no type",
          stuck(
              kagzi.workflow(type("unknown")).start("a"),
              "NO_WORKER_FOR_TYPE",
              "none serves the type unknown"));
      runs.put(
          "no version",
          stuck(
              kagzi.workflow(SERVED.version("9")).start("a"),
              "NO_WORKER_FOR_VERSION",
              "serves version '9' of served"));
      runs.put(
          "no slot",
          stuck(
              kagzi.workflow(type("busy").queue("full")).start("b"),
              "SLOTS_TAKEN",
              "The only slot of the worker"));
      runs.put("runs", stuck(running, "RUNNING_STEP", "Step long, attempt 1 of 3, runs on worker"));
      runs.put(
          "sleeps",
          stuck(kagzi.workflow(type("sleeps")).start("a"), "SLEEPING", "Sleep cool-off ends at"));
      runs.put(
          "retries",
          stuck(
              kagzi.workflow(type("retries")).start("a"),
              "STEP_RETRY",
              "Retry 1 of 4 of step charge"));
      runs.put(
          "whole",
          stuck(
              kagzi.workflow(type("whole")).retry(Retry.fixed(3, HOUR)).start("a"),
              "RUN_RETRY",
              "Retry 1 of 2 of the whole run"));
      runs.put(
          "parent",
          stuck(
              kagzi.workflow(type("parent")).start("a"),
              "CHILDREN",
              "(step pack, type child, PENDING)"));
      runs.put(
          "branches",
          stuck(kagzi.workflow(type("branches")).start("a"), "BRANCHES", "2 branches wait"));
      runs.put(
          "changed",
          stuck(
              kagzi
                  .workflow(WorkflowType.of("changed", String.class, String.class).queue("why"))
                  .start("not a number"),
              "BLOCKED",
              "does not match what is recorded"));

      runs.forEach((name, stuck) -> explains(name, stuck, Kagzi.DEFAULT_NAMESPACE));
      explains(
          "disabled",
          stuck(inDisabled, "NAMESPACE_DISABLED", "kagzi namespace enable stopped"),
          "stopped");
      end.countDown();
    }
  }

  private static String awaited(CountDownLatch end) throws InterruptedException {
    end.await();
    return "done";
  }

  private static String slept(WorkflowContext branch) {
    branch.sleep("nap", HOUR);
    return "slept";
  }

  private void explains(String name, Stuck stuck, String namespace) {
    String[] words = {"why", stuck.run, "--namespace", namespace};
    await()
        .atMost(SOON)
        .untilAsserted(
            () -> {
              assertThat(workflow(words)).as(name).isZero();
              String[] parts = out.toString().split("\\R\\R", -1);
              assertThat(parts[0]).as(name).startsWith("run " + stuck.run + " is ");
              assertThat(parts[1].replaceAll("\\s+", " "))
                  .as(name)
                  .contains("[" + stuck.code)
                  .contains(stuck.text);
              assertThat(out.toString().lines()).as(name).allMatch(line -> line.length() <= 120);
            });
  }

  @Test
  void a_run_is_found_by_the_id_of_its_start_and_the_answer_is_json_if_asked_for() {
    RunHandle<String> run = kagzi.workflow(NOBODY_SERVES).id("order-why").start("Ada");

    assertThat(workflow("why", "order-why", "-o", "json")).isZero();

    JsonNode json = json();
    assertThat(json.at("/status").asString()).isEqualTo("PENDING");
    assertThat(json.at("/causes/0/code").asString()).isEqualTo("NO_WORKER");
    assertThat(json.at("/causes/0/text").asString()).contains("No worker is online on queue");
    assertThat(json.at("/causes/0/refs/0/kind").asString()).isEqualTo("QUEUE");
    assertThat(json.at("/causes/0/at").asString()).endsWith("Z");
    assertThat(workflow("why", run.runId())).isZero();
    assertThat(workflow("why", UUID.randomUUID().toString())).isEqualTo(ExitCode.NOT_FOUND);
    assertThat(workflow("why", "no-such-order")).isEqualTo(ExitCode.NOT_FOUND);
  }

  @Test
  void several_runs_are_explained_one_after_another() {
    kagzi.workflow(NOBODY_SERVES).id("case-01").start("Ada");
    kagzi.workflow(NOBODY_SERVES).id("case-02").start("Bob").cancel();

    assertThat(workflow("why", "case-01", "case-02", "case-01")).isZero();
    assertThat(out.toString())
        .containsSubsequence(
            "run case-01 is PENDING", "[NO_WORKER", "run case-02 is CANCELLED", "[ENDED")
        .containsOnlyOnce("run case-01 is");

    assertThat(workflow("why", "case-02", "case-11", "case-01", "-o", "json"))
        .isEqualTo(ExitCode.NOT_FOUND);
    assertThat(err.toString())
        .startsWith("kagzi: no run with external id case-11 in namespace default")
        .contains("--namespace")
        .hasLineCount(1);
    assertThat(json().at("/runs/0/run").asString()).isEqualTo("case-02");
    assertThat(json().at("/runs/1/causes/0/code").asString()).isEqualTo("NO_WORKER");
    assertThat(json().at("/runs").size()).isEqualTo(2);
  }

  @Test
  void the_help_explains_the_most_frequent_codes() {
    assertThat(execute("workflow", "why", "--help")).isZero();

    assertThat(out.toString().lines().map(String::strip))
        .filteredOn(line -> line.matches("[A-Z_]{4,}(, [A-Z_]+)? .*"))
        .hasSizeGreaterThan(8);
  }

  @Test
  void no_blocked_run_says_what_was_looked_for() {
    assertThat(workflow("list", "--blocked", "--type", "never-started")).isZero();

    assertThat(err.toString())
        .contains("no blocked workflows: no run waits because the code of its workers does not")
        .contains("`kagzi workflow why RUN`");
  }

  @Test
  void a_client_gets_the_same_answer() {
    RunHandle<String> run = kagzi.workflow(NOBODY_SERVES).start("Ada");

    RunExplanation explained = run.explain();

    assertThat(explained.status()).contains(RunStatus.PENDING);
    assertThat(explained.causes().getFirst().code()).isEqualTo("NO_WORKER");
    assertThat(explained.causes().getFirst().refs())
        .containsExactly(new RunExplanation.Ref("QUEUE", "default"));
    assertThat(explained.causes().getFirst().at()).isPresent();
    assertThat(explained.toString()).startsWith("No worker is online on queue default");
    run.cancel();
    assertThat(run.explain().causes().getFirst().code()).isEqualTo("ENDED");
  }

  @Test
  void a_schedule_is_explained_by_its_name() {
    kagzi
        .schedule("nightly-why")
        .workflow(NOBODY_SERVES)
        .cron("0 3 * * *")
        .input("x")
        .paused()
        .create();

    assertThat(kagzi("schedule", "why", "nightly-why")).isZero();

    assertThat(out.toString())
        .startsWith("schedule nightly-why is PAUSED")
        .contains("[SCHEDULE_PAUSED, schedule ");
  }
}
