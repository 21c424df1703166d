package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

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
import java.nio.file.Path;
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
