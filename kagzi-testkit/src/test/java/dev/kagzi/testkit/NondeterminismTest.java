package dev.kagzi.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.kagzi.sdk.Branch;
import dev.kagzi.sdk.ChildHandle;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.WorkFailedException;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkerBuilder;
import dev.kagzi.sdk.Workflow;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A replay detects code that behaves differently than before. It tolerates steps that a deployment
 * inserted or removed.
 */
@ExtendWith(KagziExtension.class)
class NondeterminismTest {
  private static final WorkflowType<String, String> TYPE =
      WorkflowType.of("order", String.class, String.class).queue("q");
  private static final WorkflowType<String, String> PART =
      WorkflowType.of("part", String.class, String.class).queue("q");

  private final Logger logger = (Logger) org.slf4j.LoggerFactory.getLogger("dev.kagzi.sdk");
  private final ListAppender<ILoggingEvent> logged = new ListAppender<>();
  private final AtomicInteger random = new AtomicInteger();

  @BeforeEach
  void listen() {
    logged.start();
    logger.addAppender(logged);
  }

  @AfterEach
  void stopListening() {
    logger.detachAppender(logged);
  }

  private List<String> warnings() {
    return List.copyOf(logged.list).stream()
        .map(ILoggingEvent::getFormattedMessage)
        .filter(message -> message.contains("does not do what it did before"))
        .toList();
  }

  private static void step(WorkflowContext ctx, String... names) {
    for (String name : names) {
      ctx.step(name, () -> {});
    }
  }

  private static void sleepOneDay(WorkflowContext ctx, String name) {
    ctx.sleep(name, Duration.ofDays(1));
  }

  private WorkerBuilder worker(KagziEnv env, Workflow<String, String> code) {
    return env.worker()
        .workflow(TYPE, code)
        .workflow(
            PART,
            (ctx, name) -> {
              sleepOneDay(ctx, "part");
              return name;
            });
  }

  /** Executes the run until its next suspension with this code, in a new worker. */
  private void runOneDay(KagziEnv env, Workflow<String, String> code) {
    try (Worker worker = worker(env, code).start()) {
      env.advance(Duration.ofMinutes(30));
      assertThat(worker.isRegistered()).isTrue();
    }
    env.advance(Duration.ofDays(1));
  }

  private RunHandle<String> start(KagziEnv env) {
    return env.kagzi().workflow(TYPE).start("");
  }

  // ---- detected

  @Test
  void a_name_that_is_different_each_time_is_detected_by_another_worker(KagziEnv env) {
    Workflow<String, String> code =
        (ctx, name) -> {
          step(ctx, "reserve", "charge-" + random.incrementAndGet());
          sleepOneDay(ctx, "cool-off");
          return "done";
        };
    RunHandle<String> run = start(env);

    runOneDay(env, code);
    assertThat(warnings()).isEmpty();
    runOneDay(env, code);

    assertThat(run.status()).isEqualTo(RunStatus.COMPLETED);
    assertThat(warnings()).hasSize(1);
    assertThat(warnings().getFirst())
        .contains("run=" + run.runId(), "type=order")
        .contains("the history has charge-1 before cool-off", "asks for charge-2 in its place")
        .contains("NondeterminismTest.java:");
  }

  @Test
  void another_order_is_detected_by_another_worker(KagziEnv env) {
    Workflow<String, String> code =
        (ctx, name) -> {
          List<String> names = new ArrayList<>(List.of("a", "b", "c"));
          Collections.rotate(names, random.getAndIncrement());
          step(ctx, names.toArray(String[]::new));
          sleepOneDay(ctx, "nap");
          return "done";
        };
    start(env);

    runOneDay(env, code);
    runOneDay(env, code);

    assertThat(warnings()).hasSize(1);
    assertThat(warnings().getFirst())
        .contains("the history has a before c", "asks for a after it", "NondeterminismTest.java:");
  }

  @Test
  void another_order_within_a_branch_is_detected_by_another_worker(KagziEnv env) {
    Workflow<String, String> code =
        (ctx, name) -> {
          int first = random.getAndIncrement();
          ctx.parallel(
              "p",
              Branch.of(
                  "steady",
                  b -> {
                    step(b, "a", "b");
                    sleepOneDay(b, "nap");
                    return "";
                  }),
              Branch.of(
                  "shaky",
                  b -> {
                    step(b, first == 0 ? "a" : "b", first == 0 ? "b" : "a");
                    sleepOneDay(b, "nap");
                    return "";
                  }));
          return "done";
        };
    start(env);

    runOneDay(env, code);
    runOneDay(env, code);

    assertThat(warnings()).hasSize(1);
    assertThat(warnings().getFirst()).contains("the history has p[shaky]/a before p[shaky]/b");
  }

  /** Nothing in the history matches: the worker remembers what its own code did. */
  @Test
  void code_with_only_random_names_is_detected_by_the_same_worker(KagziEnv env) {
    worker(
            env,
            (ctx, name) -> {
              int time = random.incrementAndGet();
              step(ctx, "charge-" + time);
              sleepOneDay(ctx, "nap-" + time);
              return "done";
            })
        .start();
    RunHandle<String> run = start(env);

    env.advance(Duration.ofDays(3));
    run.cancel();

    assertThat(warnings()).hasSize(1);
    assertThat(warnings().getFirst())
        .contains("an earlier execution in this process asked for charge-1", "asks for charge-2");
  }

  @Test
  void a_type_is_logged_once(KagziEnv env) {
    worker(
            env,
            (ctx, name) -> {
              step(ctx, "charge-" + random.incrementAndGet());
              sleepOneDay(ctx, "nap");
              return "done";
            })
        .start();
    IntStream.range(0, 5).forEach(i -> start(env));

    env.advance(Duration.ofDays(2));

    assertThat(warnings()).hasSize(1);
  }

  @Test
  void a_blocking_worker_does_not_continue_the_run_and_a_worker_with_fitting_code_does(
      KagziEnv env) {
    Workflow<String, String> code =
        (ctx, name) -> {
          step(ctx, "charge-" + random.incrementAndGet());
          sleepOneDay(ctx, "nap");
          return "done";
        };
    RunHandle<String> run = start(env);
    Worker worker = worker(env, code).blockNondeterminism(true).start();

    env.advance(Duration.ofHours(30));
    int executed = random.get();
    env.advance(Duration.ofHours(1));

    assertThat(run.status()).isIn(RunStatus.PENDING, RunStatus.RUNNING);
    assertThat(run.info().failure().orElseThrow().metadata())
        .containsEntry("code", "CODE_NONDETERMINISTIC");
    assertThat(run.info().failure().orElseThrow().message())
        .contains("charge-1", "charge-2", "NondeterminismTest.java:");
    assertThat(random.get()).as("the code is not executed again").isEqualTo(executed);
    worker.close();
    runOneDay(
        env,
        (ctx, name) -> {
          step(ctx, "charge-1");
          sleepOneDay(ctx, "nap");
          return "fits";
        });
    assertThat(run.result()).isEqualTo("fits");
  }

  /** As after a clock that was set back: all steps are recorded, and none is executed again. */
  @Test
  void a_blocking_worker_continues_if_only_the_order_of_recorded_times_differs(KagziEnv env) {
    Workflow<String, String> code =
        (ctx, name) -> {
          List<String> names = new ArrayList<>(List.of("a", "b", "c"));
          Collections.rotate(names, random.getAndIncrement());
          step(ctx, names.toArray(String[]::new));
          sleepOneDay(ctx, "nap");
          return "done";
        };
    RunHandle<String> run = start(env);

    runOneDay(env, code);
    try (Worker worker = worker(env, code).blockNondeterminism(true).start()) {
      env.advance(Duration.ofMinutes(30));
      assertThat(worker.isRegistered()).isTrue();
    }

    assertThat(run.status()).isEqualTo(RunStatus.COMPLETED);
    assertThat(warnings()).hasSize(1);
    assertThat(warnings().getFirst()).contains("the history has a before c");
  }

  // ---- tolerated

  private static Workflow<String, String> steps(String... names) {
    return (ctx, input) -> {
      for (String name : names) {
        if (name.startsWith("nap")) {
          sleepOneDay(ctx, name);
        } else {
          step(ctx, name);
        }
      }
      return "done";
    };
  }

  private static Workflow<String, String> branches(String... names) {
    return (ctx, input) -> {
      List<Branch<String>> branches = new ArrayList<>();
      for (String name : names) {
        branches.add(
            Branch.of(
                name,
                b -> {
                  step(b, "a", "b");
                  sleepOneDay(b, "nap");
                  step(b, "c");
                  return name;
                }));
      }
      ctx.parallel("p", branches);
      step(ctx, "after");
      sleepOneDay(ctx, "nap-2");
      step(ctx, "end");
      return "done";
    };
  }

  private static Workflow<String, String> race(String first, String second, String... inserted) {
    return (ctx, input) -> {
      step(ctx, "before");
      step(ctx, inserted);
      ctx.race(
          "r", Branch.of(first, b -> racer(b, first)), Branch.of(second, b -> racer(b, second)));
      step(ctx, "after");
      sleepOneDay(ctx, "nap");
      step(ctx, "end");
      return "done";
    };
  }

  private static String racer(WorkflowContext ctx, String name) {
    step(ctx, "a", "b");
    ctx.sleep("run", name.equals("quick") ? Duration.ofHours(1) : Duration.ofHours(3));
    step(ctx, "c");
    return name;
  }

  private static Workflow<String, String> children(int count, String... between) {
    return (ctx, input) -> {
      List<ChildHandle<String>> parts = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        parts.add(ctx.child(PART).start("part", "p" + i));
      }
      step(ctx, between);
      ctx.results(parts);
      step(ctx, "after");
      sleepOneDay(ctx, "nap");
      return "done";
    };
  }

  /** A failure that the second attempt of the run does not see, so that it takes another branch. */
  private static Workflow<String, String> otherBranchInSecondAttempt() {
    return (ctx, input) -> {
      step(ctx, "a");
      try {
        ctx.step("b")
            .retry(Retry.none())
            .run(
                () -> {
                  if (ctx.attempt() == 1) {
                    throw new NonRetryableException("not yet");
                  }
                });
        step(ctx, "c", "close");
      } catch (WorkFailedException e) {
        step(ctx, "undo", "close");
        sleepOneDay(ctx, "nap");
        throw e;
      }
      sleepOneDay(ctx, "nap-2");
      step(ctx, "d");
      return "done";
    };
  }

  static Stream<Arguments> allowed() {
    Workflow<String, String> now = steps("a", "b", "c", "nap", "d", "nap-2", "e");
    return Stream.of(
        Arguments.of("the same", now, now),
        Arguments.of("inserted first", now, steps("x", "a", "b", "c", "nap", "d", "nap-2", "e")),
        Arguments.of("inserted between", now, steps("a", "x", "b", "c", "nap", "d", "nap-2", "e")),
        Arguments.of("inserted last", now, steps("a", "b", "c", "nap", "x", "d", "nap-2", "e")),
        Arguments.of(
            "inserted everywhere",
            now,
            steps(
                "x1", "a", "x2", "b", "x3", "c", "x4", "nap", "x5", "d", "x6", "nap-2", "x7", "e")),
        Arguments.of("a sleep inserted", now, steps("a", "nap-x", "b", "c", "nap", "d", "nap-2")),
        Arguments.of("removed first", now, steps("b", "c", "nap", "d", "nap-2", "e")),
        Arguments.of("removed between", now, steps("a", "c", "nap", "d", "nap-2", "e")),
        Arguments.of("removed before the sleep", now, steps("a", "b", "nap", "d", "nap-2", "e")),
        Arguments.of("the sleep removed", now, steps("a", "b", "c", "d", "nap-2", "e")),
        Arguments.of("the last ones removed", now, steps("a", "d", "nap-2", "e")),
        Arguments.of("all removed", now, steps("d", "nap-2", "e")),
        Arguments.of(
            "removed here and inserted there", now, steps("a", "c", "nap", "x", "d", "nap-2", "e")),
        Arguments.of("the end removed", now, steps("a", "b", "c", "nap")),
        Arguments.of("loops", steps("a", "a", "a", "nap"), steps("a", "a", "a", "a", "nap", "a")),
        Arguments.of("branches in another order", branches("x", "y", "z"), branches("z", "x", "y")),
        Arguments.of("a branch more", branches("x", "y"), branches("w", "x", "y")),
        Arguments.of("a branch less", branches("x", "y"), branches("y")),
        Arguments.of("a race", race("quick", "slow"), race("quick", "slow")),
        Arguments.of("a race turned round", race("quick", "slow"), race("slow", "quick", "x")),
        Arguments.of("children", children(3, "x"), children(3, "x")),
        Arguments.of("a step between children", children(3, "x"), children(4, "y", "x", "z")),
        Arguments.of(
            "another attempt of the run",
            otherBranchInSecondAttempt(),
            otherBranchInSecondAttempt()));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("allowed")
  void what_a_deploy_inserts_removes_or_turns_round_is_not_noticed(
      String what, Workflow<String, String> before, Workflow<String, String> after, KagziEnv env) {
    RunHandle<String> run = env.kagzi().workflow(TYPE).retries(2).start("");

    runOneDay(env, before);
    // In a worker that never executed the run, in one that did before, and in one that just did.
    runOneDay(env, after);
    runOneDay(env, after);
    try (Worker worker = worker(env, after).start()) {
      env.advance(Duration.ofDays(5));
      assertThat(worker.isRegistered()).isTrue();
    }

    assertThat(run.status()).as(what).isIn(RunStatus.COMPLETED, RunStatus.FAILED);
    assertThat(warnings()).as(what).isEmpty();
  }
}
