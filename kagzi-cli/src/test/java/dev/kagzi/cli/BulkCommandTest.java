package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kagzi.protocol.v1.ListWorkflowsRequest;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowStatus;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowType;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands that act on many runs. */
@SuppressWarnings("try") // the workers work while they are open
class BulkCommandTest extends ServedCommandTest {

  private static final String RUN = "01890a5d-ac96-774b-bcce-b302099a8057";

  private static WorkflowType<String, String> type(String name) {
    return WorkflowType.of(name, String.class, String.class).queue("bulk");
  }

  private static List<RunHandle<String>> start(WorkflowType<String, String> type, int runs) {
    List<RunHandle<String>> handles = new ArrayList<>();
    for (int i = 0; i < runs; i++) {
      handles.add(kagzi.workflow(type).start("x"));
    }
    return handles;
  }

  private static long count(WorkflowType<String, String> type, RunStatus status) {
    return kagzi.list().type(type.name()).status(status).stream().count();
  }

  @Test
  void a_dry_run_counts_and_changes_nothing() {
    WorkflowType<String, String> dry = type("dry");
    start(dry, 12);

    assertThat(workflow("cancel", "--all-matching", "--type", "dry", "--dry-run")).isZero();
    assertThat(out.toString()).startsWith("12 runs match;").contains("would cancel them");
    assertThat(out.toString().lines().filter(line -> line.contains(" dry "))).hasSize(10);

    assertThat(workflow("cancel", "--all-matching", "--type", "dry", "--dry-run", "-o", "json"))
        .isZero();
    assertThat(json().at("/matching").asInt()).isEqualTo(12);
    assertThat(json().at("/sample").size()).isEqualTo(10);
    assertThat(count(dry, RunStatus.PENDING)).isEqualTo(12);
  }

  @Test
  void matching_runs_are_changed_only_after_a_confirmation() {
    WorkflowType<String, String> asked = type("asked");
    start(asked, 3);

    assertThat(workflow("cancel", "--all-matching", "--type", "asked")).isEqualTo(2);
    assertThat(err.toString())
        .contains("Cancel 3 runs in namespace default?", "(expected: --yes)")
        .hasLineCount(1);
    assertThat(count(asked, RunStatus.PENDING)).isEqualTo(3);

    assertThat(workflow("cancel", "--all-matching", "--type", "asked", "--yes")).isZero();
    assertThat(out.toString().strip()).isEqualTo("3 succeeded, 0 not applicable, 0 failed");
    assertThat(count(asked, RunStatus.CANCELLED)).isEqualTo(3);
    assertThat(workflow("cancel", "--all-matching", "--type", "asked", "--yes")).isZero();
    assertThat(out.toString().strip()).isEqualTo("0 succeeded, 0 not applicable, 0 failed");
  }

  @Test
  void only_yes_is_yes() {
    for (String yes : List.of("y\n", "YES\n")) {
      assertThat(answer(yes)).isTrue();
    }
    for (String no : List.of("\n", "n\n", "yesterday\n", "")) {
      assertThat(answer(no)).isFalse();
    }
  }

  private boolean answer(String text) {
    return Confirmation.ask(
        new BufferedReader(new StringReader(text)), new PrintWriter(new StringWriter()), "Sure?");
  }

  @Test
  void more_than_one_page_of_runs_is_terminated_by_version_and_queue() {
    WorkflowType<String, String> two = type("paged").version("2");
    start(two, 130);
    start(type("paged").version("1"), 2);

    assertThat(
            workflow(
                "terminate",
                "--all-matching",
                "--type",
                "paged",
                "--of-version",
                "2",
                "--queue",
                "bulk",
                "--reason",
                "wrong deploy",
                "--concurrency",
                "16",
                "--yes",
                "-o",
                "json"))
        .isZero();

    assertThat(json().at("/matching").asInt()).isEqualTo(130);
    assertThat(json().at("/succeeded").asInt()).isEqualTo(130);
    assertThat(json().at("/remaining").asInt()).isZero();
    assertThat(count(two, RunStatus.FAILED)).isEqualTo(130);
    assertThat(count(two, RunStatus.PENDING)).isEqualTo(2);
  }

  @Test
  void failed_runs_are_resumed_and_retried_and_refusals_are_summed_up() {
    WorkflowType<String, String> broken = type("broken");
    List<RunHandle<String>> runs = start(broken, 3);
    try (Worker worker =
        kagzi
            .worker()
            .workflow(
                broken,
                (ctx, name) -> {
                  throw new NonRetryableException("no");
                })
            .start()) {
      await().atMost(SOON).until(() -> count(broken, RunStatus.FAILED) == 3);
    }
    start(broken, 1).get(0).terminate("enough");

    assertThat(workflow("resume", "--all-matching", "--type", "broken", "--yes")).isEqualTo(8);
    assertThat(out.toString())
        .startsWith("3 succeeded, 0 not applicable, 1 failed")
        .contains("1: ", "it was terminated");
    assertThat(count(broken, RunStatus.PENDING)).isEqualTo(3);

    assertThat(
            workflow("retry", "--all-matching", "--type", "broken", "--status", "FAILED", "--yes"))
        .isZero();
    assertThat(out.toString()).startsWith("1 succeeded");
    assertThat(runs.get(0).status()).isEqualTo(RunStatus.PENDING);
  }

  private static void terminateOpen(WorkflowType<String, String> type) {
    kagzi.list().type(type.name()).status(RunStatus.PENDING).stream()
        .forEach(run -> kagzi.run(run.runId(), type).terminate("enough"));
  }

  @Test
  void a_repeated_retry_starts_no_run_twice() {
    WorkflowType<String, String> once = type("once");
    start(once, 2);
    kagzi.workflow(once).id("with-an-id").start("x");
    terminateOpen(once);
    String[] retry = {"retry", "--all-matching", "--type", "once", "--yes"};

    assertThat(workflow(retry)).isZero();
    assertThat(out.toString()).startsWith("3 succeeded, 0 not applicable, 0 failed");
    assertThat(workflow(retry)).isZero();

    assertThat(out.toString())
        .startsWith("0 succeeded, 3 not applicable, 0 failed")
        .contains("3: was already retried as run …");
    assertThat(count(once, RunStatus.PENDING)).isEqualTo(3);

    terminateOpen(once);
    assertThat(workflow(retry)).isZero();

    assertThat(out.toString()).startsWith("3 succeeded, 3 not applicable, 0 failed");
    assertThat(count(once, RunStatus.PENDING)).isEqualTo(3);
  }

  @Test
  void a_run_that_is_given_is_retried_again_and_a_filter_leaves_it_out() {
    WorkflowType<String, String> named = type("named");
    String run = start(named, 1).get(0).runId();
    terminateOpen(named);

    assertThat(workflow("retry", run)).isZero();
    assertThat(workflow("retry", run)).isZero();
    assertThat(count(named, RunStatus.PENDING)).isEqualTo(2);
    assertThat(workflow("retry", "--all-matching", "--type", "named", "--yes")).isZero();

    assertThat(out.toString()).startsWith("0 succeeded, 1 not applicable");
    assertThat(count(named, RunStatus.PENDING)).isEqualTo(2);
  }

  @Test
  void a_run_that_was_resumed_and_failed_again_is_retried_again() {
    Workflow first = Workflow.newBuilder().setRunId(RUN).setAttempts(1).build();
    Workflow resumed = first.toBuilder().setAttempts(2).build();

    assertThat(RetryId.of(first))
        .isEqualTo(RetryId.of(first.toBuilder().build()))
        .isNotEqualTo(RetryId.of(resumed))
        .isNotEqualTo(RUN)
        .startsWith("01890a5d-ac96-8")
        .endsWith("8057");
    assertThat(UUID.fromString(RetryId.of(first)).variant()).isEqualTo(2);
  }

  @Test
  void children_of_runs_that_match_are_left_to_their_parents() {
    WorkflowType<String, String> kid = type("kid").queue("family");
    WorkflowType<String, String> parent = type("parent").queue("family");
    kagzi.workflow(parent).start("x");
    try (Worker worker =
        kagzi
            .worker()
            .workflow(parent, (ctx, name) -> ctx.child(kid).run("kid", name))
            .workflow(
                kid,
                (ctx, name) -> {
                  throw new NonRetryableException("no");
                })
            .start()) {
      await().atMost(SOON).until(() -> count(parent, RunStatus.FAILED) == 1);
    }

    assertThat(workflow("retry", "--all-matching", "--queue", "family", "--yes")).isZero();
    assertThat(out.toString())
        .startsWith("1 succeeded, 1 not applicable, 0 failed")
        .contains("1: is left out: the retry of run …, which also matches");
    assertThat(workflow("resume", "--all-matching", "--queue", "family", "--yes")).isZero();
    assertThat(out.toString())
        .startsWith("1 succeeded, 1 not applicable, 0 failed")
        .contains("1: is left out: its parent run … also matches");

    assertThat(count(parent, RunStatus.PENDING)).isEqualTo(2);
    assertThat(count(kid, RunStatus.FAILED)).isEqualTo(1);
    assertThat(count(kid, RunStatus.PENDING)).isZero();
  }

  @Test
  void a_resume_is_for_the_attempt_that_was_listed() {
    WorkflowType<String, String> again = type("again");
    RunHandle<String> run = start(again, 1).get(0);
    try (RemoteServer server =
            new RemoteServer(Kagzi.builder().address(address()), address(), "default");
        Worker worker =
            kagzi
                .worker()
                .workflow(
                    again,
                    (ctx, name) -> {
                      throw new NonRetryableException("no");
                    })
                .start()) {
      await().atMost(SOON).until(() -> run.status() == RunStatus.FAILED);
      MatchingRuns listed =
          MatchingRuns.read(
              server,
              ListWorkflowsRequest.newBuilder()
                  .setNamespace("default")
                  .setWorkflowType("again")
                  .addStatuses(WorkflowStatus.WORKFLOW_STATUS_FAILED));
      Workflow first = listed.list().get(0);
      assertThat(listed.change(server, first)).isEmpty();
      run.resume();
      await()
          .atMost(SOON)
          .until(
              () ->
                  run.status() == RunStatus.FAILED
                      && server.run(run.runId()).getAttempts() == first.getAttempts() + 1);

      new WorkflowResume().act(server, first);

      assertThat(run.status()).isEqualTo(RunStatus.FAILED);
      assertThat(server.run(run.runId()).getAttempts()).isEqualTo(first.getAttempts() + 1);
      assertThat(listed.change(server, first))
          .contains("no longer matches: it was resumed and has ended again");
    }
  }

  /** Needs a terminal, from the package bsdutils or util-linux. */
  @Test
  void runs_that_changed_while_the_command_asked_are_left_alone(@TempDir Path folder)
      throws IOException, InterruptedException {
    boolean hasTerminal = Files.isExecutable(Path.of("/usr/bin/script"));
    assertThat(hasTerminal || !"true".equals(System.getenv("CI"))).isTrue();
    assumeTrue(hasTerminal);
    WorkflowType<String, String> napping = type("napping");
    start(napping, 2);
    Path output = folder.resolve("output");
    try (KagziProcess process =
        KagziProcess.startOnTerminal(
            folder,
            output,
            "workflow",
            "cancel",
            "--all-matching",
            "--type",
            "napping",
            "--status",
            "PENDING",
            "--address",
            address())) {
      assertThat(process.outputUntil("[y/N] ")).contains("Cancel 2 runs in namespace default?");
      try (Worker worker =
          kagzi
              .worker()
              .workflow(
                  napping,
                  (ctx, name) -> {
                    ctx.sleep("nap", Duration.ofHours(1));
                    return name;
                  })
              .start()) {
        await().atMost(SOON).until(() -> count(napping, RunStatus.SLEEPING) == 2);
      }

      process.type("y");

      assertThat(process.output()).contains("[#", "100% 2/2");
      assertThat(process.awaitExit()).isZero();
      assertThat(output)
          .content()
          .startsWith("0 succeeded, 2 not applicable, 0 failed")
          .contains("2: no longer matches: it is SLEEPING");
      assertThat(count(napping, RunStatus.SLEEPING)).isEqualTo(2);
    }
  }

  @Test
  void several_given_runs_are_changed_without_a_question() {
    List<RunHandle<String>> runs = start(type("given"), 2);
    String unknown = UUID.randomUUID().toString();
    runs.get(1).cancel();

    assertThat(
            workflow("terminate", runs.get(0).runId(), runs.get(1).runId(), unknown, "-o", "json"))
        .isEqualTo(8);

    assertThat(json().at("/succeeded").asInt()).isEqualTo(1);
    assertThat(json().at("/notApplicable").asInt()).isEqualTo(1);
    assertThat(json().at("/failed").asInt()).isEqualTo(1);
    assertThat(json().at("/reasons").size()).isEqualTo(2);
    assertThat(out.toString()).contains("had already ended as CANCELLED", unknown);
  }

  @Test
  void options_that_do_not_fit_are_refused() {
    for (String[] wrong :
        new String[][] {
          {"cancel"},
          {"cancel", "--all-matching"},
          {"cancel", "--type", "x"},
          {"cancel", "order-1", "--type", "x"},
          {"cancel", "order-1", "--all-matching", "--type", "x"},
          {"cancel", "order-1", "--dry-run"},
          {"cancel", "order-1", "--concurrency", "0"}
        }) {
      assertThat(workflow(wrong)).as("%s", List.of(wrong)).isEqualTo(2);
      assertThat(err.toString()).contains("(expected: ").hasLineCount(1);
    }
    assertThat(
            workflow("cancel", "--all-matching", "--type", "x", "--namespace", "nope", "--dry-run"))
        .isEqualTo(3);
  }

  @Test
  void a_stopped_command_says_how_far_it_came(@TempDir Path folder)
      throws IOException, InterruptedException {
    WorkflowType<String, String> many = type("many");
    for (int i = 0; i < 30; i++) {
      kagzi.workflow(many).startAll(Collections.nCopies(100, "x"));
    }
    try (KagziProcess process =
        KagziProcess.start(
            folder,
            Map.of(),
            "workflow",
            "cancel",
            "--all-matching",
            "--type",
            "many",
            "--yes",
            "--concurrency",
            "1",
            "--address",
            address())) {
      await().atMost(SOON).until(() -> count(many, RunStatus.CANCELLED) > 0);

      // Ends the JVM as Ctrl-C does; a build in the background ignores the signal of Ctrl-C.
      process.terminate();

      String summary = process.output();
      assertThat(process.awaitExit()).isEqualTo(143);
      long cancelled = count(many, RunStatus.CANCELLED);
      assertThat(cancelled).isBetween(1L, 2_999L);
      assertThat(summary)
          .startsWith("stopped after " + cancelled + " of 3000 runs")
          .contains(cancelled + " succeeded, 0 not applicable, 0 failed");
      assertThat(process.errors()).isEmpty();
    }
  }
}
