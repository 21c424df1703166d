package dev.kagzi.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.sdk.Branch;
import dev.kagzi.sdk.ChildHandle;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.WorkFailedException;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.Workflow;
import dev.kagzi.sdk.WorkflowContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A replay tolerates what a deployment inserts, removes or turns round. */
class AllowedChangesTest extends NondeterminismFixture {
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
