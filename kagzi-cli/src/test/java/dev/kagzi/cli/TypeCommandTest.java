package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** {@code kagzi type}, and what {@code workflow get} shows of versions and children. */
class TypeCommandTest extends ServedCommandTest {
  private static final Duration SOON = Duration.ofSeconds(20);

  private static final WorkflowType<String, String> CHECK =
      WorkflowType.of("check", String.class, String.class).queue("checks");

  @Test
  void a_default_is_set_and_listed_with_unfinished_runs_by_version() {
    WorkflowType<String, String> audit =
        WorkflowType.of("audit", String.class, String.class).queue("audits");
    RunHandle<String> old = kagzi.workflow(audit.version("1")).start("x");

    assertThat(kagzi("type", "set-default", "audit", "2")).isZero();
    assertThat(out.toString()).contains("type audit: new runs have version 2 (before: -)");
    RunHandle<String> fresh = kagzi.workflow(audit).start("x");

    assertThat(fresh.info().version()).isEqualTo("2");
    assertThat(old.info().version()).isEqualTo("1");
    assertThat(kagzi("type", "list")).isZero();
    assertThat(out.toString().lines().filter(line -> line.startsWith("audit")))
        .singleElement()
        .asString()
        .contains("1: 1, 2: 1");
    assertThat(kagzi("type", "list", "-o", "json")).isZero();
    assertThat(out.toString()).contains("\"defaultVersion\"");
  }

  @Test
  @SuppressWarnings("try") // the worker works while it is open
  void a_run_shows_which_version_no_worker_serves() throws Exception {
    try (Worker worker =
        kagzi.worker().workflow(CHECK.version("1"), (ctx, input) -> input).start()) {
      assertThat(worker.awaitRegistered(SOON)).isTrue();
      RunHandle<String> run = kagzi.workflow(CHECK.version("2")).start("x");

      assertThat(workflow("get", run.runId())).isZero();
      assertThat(out.toString())
          .contains("No worker online on queue checks serves version '2' of check")
          .contains("served there: '1'");
      run.cancel();
      assertThat(kagzi("worker", "list")).isZero();
      assertThat(out.toString()).contains("check (version 1)");
      assertThat(kagzi("type", "set-default", "check", "1")).isZero();
      assertThat(err.toString()).isEmpty();
      assertThat(kagzi("type", "set-default", "check", "9")).isZero();
      assertThat(err.toString())
          .contains("no worker online serves check (version 9): new runs wait for one");
    }
  }

  @Test
  void a_worker_beyond_the_first_page_is_seen() throws Exception {
    WorkflowType<String, String> crowd =
        WorkflowType.of("crowd", String.class, String.class).queue("crowd");
    List<Worker> workers = new ArrayList<>();
    try {
      // Lists begin with the newest worker.
      for (int i = 0; i <= 101; i++) {
        WorkflowType<String, String> type = i == 0 ? crowd.version("first") : crowd;
        workers.add(kagzi.worker("crowd").workflow(type, (ctx, input) -> input).start());
        assertThat(workers.getLast().awaitRegistered(SOON)).isTrue();
      }

      assertThat(kagzi("type", "set-default", "crowd", "first")).isZero();
      assertThat(err.toString()).isEmpty();
    } finally {
      workers.forEach(Worker::close);
    }
  }

  @Test
  @SuppressWarnings("try") // the worker works while it is open
  void a_run_without_a_version_is_retried_in_a_served_version() throws Exception {
    WorkflowType<String, String> type =
        WorkflowType.of("unversioned", String.class, String.class).queue("unversioned");
    try (Worker worker =
        kagzi.worker().workflow(type.version("2"), (ctx, input) -> "done " + input).start()) {
      assertThat(worker.awaitRegistered(SOON)).isTrue();
      RunHandle<String> run = kagzi.workflow(type).id("stuck").start("x");

      assertThat(workflow("get", run.runId())).isZero();
      assertThat(out.toString())
          .contains("No worker online on queue unversioned serves version '' of unversioned")
          .contains("served there: '2'")
          .contains("kagzi workflow retry " + run.runId() + " --workflow-version '2'");
      assertThat(workflow("cancel", "stuck")).isZero();
      assertThat(workflow("retry", "stuck", "--workflow-version", "2")).isZero();

      RunHandle<String> again =
          kagzi.list().workflowId("stuck").page().runs().stream()
              .filter(one -> !one.runId().equals(run.runId()))
              .map(one -> kagzi.run(one.runId(), type))
              .findFirst()
              .orElseThrow();
      assertThat(again.result(SOON)).isEqualTo("done x");
      assertThat(again.info().version()).isEqualTo("2");
      assertThat(
              workflow(
                  "start",
                  "unversioned",
                  "--queue",
                  "unversioned",
                  "--id",
                  "named",
                  "--input",
                  "\"y\"",
                  "--workflow-version",
                  "2"))
          .isZero();
      assertThat(workflow("result", "named")).isZero();
      assertThat(out.toString()).contains("done y");
      assertThat(run.retryWithVersion("2").result(SOON)).isEqualTo("done x");
    }
  }

  @Test
  @SuppressWarnings("try") // the worker works while it is open
  void of_several_served_versions_only_the_default_is_suggested() throws Exception {
    WorkflowType<String, String> type =
        WorkflowType.of("several", String.class, String.class).queue("several");
    try (Worker worker =
        kagzi
            .worker()
            .workflow(type.version("9"), (ctx, input) -> input)
            .workflow(type.version("10"), (ctx, input) -> input)
            .start()) {
      assertThat(worker.awaitRegistered(SOON)).isTrue();
      RunHandle<String> run = kagzi.workflow(type.version("8")).start("x");
      String retry = "kagzi workflow retry " + run.runId() + " --workflow-version ";

      assertThat(workflow("get", run.runId())).isZero();
      assertThat(out.toString()).contains("served there: '10', '9'").contains(retry + "VERSION");

      assertThat(kagzi("type", "set-default", "several", "10")).isZero();
      assertThat(workflow("get", run.runId())).isZero();
      assertThat(out.toString()).contains("served there: '10', '9'").contains(retry + "'10'");
      run.cancel();
    }
  }

  @Test
  @SuppressWarnings("try") // the worker works while it is open
  void a_run_shows_what_its_steps_have_started() {
    WorkflowType<String, String> parent =
        WorkflowType.of("starter", String.class, String.class).queue("starters");
    WorkflowType<String, String> spawned =
        WorkflowType.of("spawned", String.class, String.class).queue("nobody");
    try (Worker worker =
        kagzi
            .worker()
            .workflow(
                parent,
                (ctx, input) ->
                    ctx.step(
                        "spawn", String.class, () -> kagzi.workflow(spawned).start("x").runId()))
            .start()) {
      RunHandle<String> run = kagzi.workflow(parent).start("x");
      String started = run.result(SOON);

      assertThat(workflow("get", run.runId())).isZero();
      assertThat(out.toString()).contains("STARTED BY STEP").contains("spawn", started, "PENDING");
      assertThat(workflow("get", started)).isZero();
      assertThat(out.toString()).contains("child of", run.runId() + ", step spawn, detached");
    }
  }

  @Test
  @SuppressWarnings("try") // the worker works while it is open
  void parents_and_children_show_each_other() {
    WorkflowType<String, String> parent =
        WorkflowType.of("parent", String.class, String.class).queue("families");
    WorkflowType<String, String> child =
        WorkflowType.of("child", String.class, String.class).queue("families");
    try (Worker worker =
        kagzi
            .worker()
            .workflow(parent, (ctx, input) -> ctx.child(child).run("raise", input))
            .workflow(child, (ctx, input) -> ctx.step("grow", String.class, () -> input))
            .start()) {
      RunHandle<String> run = kagzi.workflow(parent).start("x");
      run.result(SOON);
      String childId = kagzi.list().parent(run.runId()).page().runs().get(0).runId();

      assertThat(workflow("get", run.runId())).isZero();
      assertThat(out.toString()).contains("CHILD_WORKFLOW", childId);
      assertThat(workflow("list", "--parent", run.runId())).isZero();
      assertThat(out.toString()).contains(childId).doesNotContain(run.runId());
      assertThat(workflow("get", childId)).isZero();
      assertThat(out.toString()).contains(run.runId() + ", step raise");
      await().atMost(SOON).until(() -> run.info().status() == RunStatus.COMPLETED);
    }
  }
}
