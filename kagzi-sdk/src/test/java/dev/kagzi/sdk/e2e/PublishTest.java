package dev.kagzi.sdk.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.sdk.Branch;
import dev.kagzi.sdk.InvalidArgumentException;
import dev.kagzi.sdk.PayloadException;
import dev.kagzi.sdk.PublishedValue;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunFailedException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunNotFoundException;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Signal;
import dev.kagzi.sdk.TypeRef;
import dev.kagzi.sdk.Workflow;
import dev.kagzi.sdk.WorkflowContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What workflows publish, and what readers outside of the run see. */
class PublishTest extends RealServerTest {
  private static final Signal<String> WORD = Signal.of("word", String.class);
  private static final Duration PUBLISHED_MAX = Duration.ofSeconds(3);

  record Progress(int done, int all) {}

  private RunHandle<String> run(Workflow<String, String> code) {
    kagzi.worker().workflow(type, code).start();
    return kagzi.workflow(type).start("Ada");
  }

  private static void awaitStatus(RunHandle<?> run, RunStatus status) {
    await().atMost(SOON).until(() -> run.status() == status);
  }

  @Test
  void the_last_value_of_each_name_is_read_while_the_run_waits_and_after_its_end() {
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              for (int i = 1; i <= 3; i++) {
                ctx.step("work", () -> {});
                ctx.publish("progress", new Progress(i, 3));
              }
              ctx.publish("words", List.of("a", "b"));
              String word = ctx.receive(WORD);
              ctx.publish("word", word);
              return word;
            });
    awaitStatus(run, RunStatus.SLEEPING);

    assertThat(run.published("progress", Progress.class)).contains(new Progress(3, 3));
    assertThat(run.published("words", new TypeRef<List<String>>() {})).contains(List.of("a", "b"));
    assertThat(run.published("word", String.class)).isEmpty();
    run.signal(WORD, "done");
    run.result(SOON);

    assertThat(run.published("word", String.class)).contains("done");
    assertThat(run.published())
        .extracting(PublishedValue::name)
        .containsExactly("progress", "word", "words");
    assertThat(run.published().getFirst().publishedAt()).isNotNull();
    assertThat(run.published().getFirst().value().data()).asString().contains("\"done\":3");
    assertThat(run.history().steps()).hasSize(4);
  }

  @Test
  void a_value_is_stored_while_a_long_step_runs_and_while_code_runs_outside_of_steps()
      throws Exception {
    CountDownLatch inStep = new CountDownLatch(1);
    CountDownLatch outside = new CountDownLatch(1);
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              ctx.publish("progress", "in the step");
              ctx.step("long", () -> inStep.await(20, TimeUnit.SECONDS));
              ctx.publish("progress", "outside");
              outside.await(20, TimeUnit.SECONDS);
              return "done";
            });

    awaitPublished(run, "in the step");
    inStep.countDown();
    awaitPublished(run, "outside");
    outside.countDown();
    assertThat(run.result(SOON)).isEqualTo("done");
  }

  @Test
  void the_code_of_a_step_publishes_and_so_does_its_next_attempt() throws Exception {
    CountDownLatch half = new CountDownLatch(1);
    AtomicInteger attempts = new AtomicInteger();
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              ctx.publish("progress", "begins");
              ctx.step("long")
                  .retry(Retry.fixed(2, Duration.ofMillis(1)))
                  .run(
                      () -> {
                        int attempt = attempts.incrementAndGet();
                        ctx.publish("progress", "half of attempt " + attempt);
                        if (attempt == 1) {
                          half.await(20, TimeUnit.SECONDS);
                          throw new IllegalStateException("once more");
                        }
                      });
              ctx.receive(WORD);
              ctx.publish("progress", "done");
              return "done";
            });

    awaitPublished(run, "half of attempt 1");
    half.countDown();
    awaitStatus(run, RunStatus.SLEEPING);
    assertThat(run.published("progress", String.class)).contains("half of attempt 2");
    run.signal(WORD, "go");
    run.result(SOON);
    assertThat(run.published("progress", String.class)).contains("done");
  }

  /** More steps than a run may have names. */
  @Test
  void the_code_of_many_steps_publishes_and_a_replay_changes_nothing() {
    int steps = 1_050;
    AtomicInteger executions = new AtomicInteger();
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              int execution = executions.incrementAndGet();
              for (int i = 1; i <= steps; i++) {
                int done = i;
                ctx.step("work", () -> ctx.publish("progress", done));
                ctx.publish("recorded", execution + ": " + done);
              }
              ctx.receive(WORD);
              ctx.publish("progress", -execution);
              ctx.receive(WORD);
              return "done";
            });
    awaitStatus(run, RunStatus.SLEEPING);
    assertThat(run.published("progress", Integer.class)).contains(steps);
    assertThat(run.published("recorded", String.class)).contains("1: " + steps);

    run.signal(WORD, "a");
    await().atMost(SOON).until(() -> executions.get() == 2 && run.status() == RunStatus.SLEEPING);
    assertThat(run.published("progress", Integer.class)).contains(-2);
    assertThat(run.published("recorded", String.class)).contains("1: " + steps);
    run.signal(WORD, "b");
    run.result(SOON);
    assertThat(run.published("progress", Integer.class)).contains(-2);
  }

  private static void awaitPublished(RunHandle<?> run, String value) {
    await()
        .atMost(PUBLISHED_MAX)
        .until(() -> run.published("progress", String.class).filter(value::equals).isPresent());
  }

  @Test
  void a_replay_does_not_publish_again() {
    AtomicInteger executions = new AtomicInteger();
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              // Not deterministic, to see which execution has published.
              int execution = executions.incrementAndGet();
              ctx.publish("first", execution);
              ctx.receive(WORD);
              ctx.publish("second", execution);
              ctx.receive(WORD);
              return "done";
            });
    awaitStatus(run, RunStatus.SLEEPING);
    run.signal(WORD, "a");
    await().atMost(SOON).until(() -> executions.get() == 2 && run.status() == RunStatus.SLEEPING);
    run.signal(WORD, "b");
    run.result(SOON);

    assertThat(executions).hasValue(3);
    assertThat(run.published("first", Integer.class)).contains(1);
    assertThat(run.published("second", Integer.class)).contains(2);
  }

  @Test
  void in_branches_the_last_call_counts_and_names_of_branches_are_shared() throws Exception {
    CountDownLatch published = new CountDownLatch(1);
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              ctx.parallel(
                  "both",
                  List.of(
                      Branch.of(
                          "late",
                          branch -> {
                            branch.step("wait", () -> published.await(20, TimeUnit.SECONDS));
                            branch.publish("last", "late");
                            return 1;
                          }),
                      Branch.of(
                          "early",
                          branch -> {
                            branch.publish("last", "early");
                            branch.step("work", published::countDown);
                            return 2;
                          })));
              ctx.sleep("pause", Duration.ofSeconds(2));
              return "done";
            });

    run.result(SOON);

    assertThat(run.published("last", String.class)).contains("late");
  }

  @Test
  void the_next_attempt_and_a_resumed_run_publish_again_and_a_retry_has_none() {
    AtomicInteger executions = new AtomicInteger();
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) -> {
              int execution = executions.incrementAndGet();
              ctx.publish("execution", execution);
              if (execution < 3) {
                throw new IllegalStateException("not yet");
              }
              ctx.receive(WORD);
              return "done";
            })
        .start();
    RunHandle<String> run =
        kagzi.workflow(type).retry(Retry.fixed(2, Duration.ofMillis(1))).start("Ada");
    assertThatThrownBy(() -> run.result(SOON)).isInstanceOf(RunFailedException.class);
    assertThat(run.published("execution", Integer.class)).contains(2);

    run.resume();
    awaitStatus(run, RunStatus.SLEEPING);
    assertThat(run.published("execution", Integer.class)).contains(3);
    run.signal(WORD, "go");
    run.result(SOON);
    executions.set(0);
    RunHandle<String> again = run.retry();
    assertThatThrownBy(() -> again.result(SOON)).isInstanceOf(RunFailedException.class);
    assertThat(run.published("execution", Integer.class)).contains(3);
    assertThat(again.published("execution", Integer.class)).contains(2);
  }

  @Test
  void a_watch_follows_the_values_and_ends_with_the_run() throws Exception {
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              for (int i = 1; i <= 3; i++) {
                ctx.publish("progress", i);
                ctx.receive(WORD);
              }
              ctx.publish("progress", 4);
              return "done";
            });
    List<Integer> seen = new CopyOnWriteArrayList<>();
    CompletableFuture<Void> watching =
        CompletableFuture.runAsync(() -> run.watch("progress", Integer.class).forEach(seen::add));
    for (int i = 1; i <= 3; i++) {
      int expected = i;
      await().atMost(SOON).until(() -> seen.contains(expected));
      run.signal(WORD, "next");
    }

    watching.get(20, TimeUnit.SECONDS);

    assertThat(run.status()).isEqualTo(RunStatus.COMPLETED);
    assertThat(seen).containsExactly(1, 2, 3, 4);
    assertThat(run.watch("progress", Integer.class)).containsExactly(4);
    assertThat(run.watch("other", new TypeRef<Map<String, Integer>>() {})).isEmpty();
  }

  @Test
  void too_much_is_refused_where_the_code_publishes_it() {
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              List<String> errors = new ArrayList<>();
              errors.add(error(() -> ctx.publish("large", "x".repeat(70_000))));
              errors.add(error(() -> ctx.publish(" ", "x")));
              for (int i = 0; i < 1_000; i++) {
                ctx.publish("n" + i, i);
              }
              errors.add(error(() -> ctx.publish("one more", "x")));
              for (int i = 0; i < 16; i++) {
                ctx.publish("n" + i, "x".repeat(64_000));
              }
              errors.add(error(() -> ctx.publish("n16", "x".repeat(64_000))));
              return String.join("\n", errors);
            });

    assertThat(run.result(SOON).lines().toList())
        .satisfiesExactly(
            line ->
                assertThat(line)
                    .isEqualTo(
                        "TOO_MUCH_PUBLISHED published value large: 70002 bytes (expected: at most"
                            + " 65536; a step's result may be larger)"),
            line -> assertThat(line).startsWith("INVALID_NAME name: \" \""),
            line ->
                assertThat(line)
                    .startsWith("TOO_MUCH_PUBLISHED published names: 1001 with one more"),
            line ->
                assertThat(line)
                    .startsWith("TOO_MUCH_PUBLISHED published values: 10909")
                    .endsWith("with n16 (expected: at most 1048576 in one run)"));
    assertThat(run.published()).hasSize(1_000);
  }

  /** Each execution is within the limits of its calls; all together are not. */
  @Test
  void what_the_steps_of_several_executions_publish_is_limited_by_the_server_and_fails_the_run() {
    AtomicInteger executions = new AtomicInteger();
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) -> {
              executions.incrementAndGet();
              for (int part = 1; part <= 3; part++) {
                String prefix = part + "-";
                ctx.step("publish", () -> publish(ctx, prefix, 900));
                ctx.step("work", () -> {});
                ctx.receive(WORD);
              }
              return "done";
            })
        .start();
    RunHandle<String> run =
        kagzi.workflow(type).retry(Retry.fixed(2, Duration.ofMillis(1))).start("Ada");

    for (int part = 1; part <= 2; part++) {
      int execution = part;
      await()
          .atMost(SOON)
          .until(() -> executions.get() == execution && run.status() == RunStatus.SLEEPING);
      run.signal(WORD, "next");
    }

    assertThatThrownBy(() -> run.result(SOON))
        .isInstanceOf(RunFailedException.class)
        .hasMessageContaining("published: 2001 names");
    assertThat(executions).hasValue(3);
    assertThat(run.published()).hasSize(2_000);
  }

  private static void publish(WorkflowContext ctx, String prefix, int names) {
    for (int i = 0; i < names; i++) {
      ctx.publish(prefix + i, i);
    }
  }

  private static String error(Runnable code) {
    try {
      code.run();
      return "none";
    } catch (InvalidArgumentException e) {
      return e.code() + " " + e.getMessage();
    }
  }

  @Test
  void null_is_a_value_and_reads_as_nothing() {
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              ctx.publish("answer", "something");
              ctx.step("work", () -> {});
              ctx.publish("answer", null);
              return "done";
            });
    run.result(SOON);

    assertThat(run.published("answer", String.class)).isEmpty();
    assertThat(run.published()).hasSize(1);
    assertThat(run.watch("answer", String.class)).isEmpty();
  }

  @Test
  void unknown_runs_and_other_types_are_clear_errors() {
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              ctx.publish("progress", "text");
              return "done";
            });
    run.result(SOON);

    assertThatThrownBy(() -> run.published("progress", Progress.class))
        .isInstanceOf(PayloadException.class);
    RunHandle<?> unknown = kagzi.run(UUID.randomUUID().toString(), type);
    assertThatThrownBy(unknown::published).isInstanceOf(RunNotFoundException.class);
    assertThatThrownBy(() -> unknown.watch("progress", String.class).toList())
        .isInstanceOf(RunNotFoundException.class);
  }
}
