package dev.kagzi.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.kagzi.sdk.AesGcmTransform;
import dev.kagzi.sdk.Branch;
import dev.kagzi.sdk.BranchFailedException;
import dev.kagzi.sdk.ChildHandle;
import dev.kagzi.sdk.GzipTransform;
import dev.kagzi.sdk.InvalidArgumentException;
import dev.kagzi.sdk.JacksonCodec;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.PayloadCodec;
import dev.kagzi.sdk.ReplayDiffersException;
import dev.kagzi.sdk.Replayer;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunHistory;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.StepFailedException;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.Workflow;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

@ExtendWith(KagziExtension.class)
class ReplayTest {
  private static final WorkflowType<String, String> ORDER =
      WorkflowType.of("order", String.class, String.class).queue("q");
  private static final WorkflowType<String, String> PARCEL =
      WorkflowType.of("parcel", String.class, String.class).queue("q");

  /** The executed steps; a replay must not add any. */
  private final Queue<String> executed = new ConcurrentLinkedQueue<>();

  @Test
  void unchanged_code_with_every_kind_of_step_matches_its_history(KagziEnv env) {
    env.worker().workflow(PARCEL, (ctx, item) -> "parcel of " + item).start();
    RunHistory history = record(env, this::everything);
    List<String> executedLive = List.copyOf(executed);

    replay(history, this::everything);

    assertThat(history.run().status()).isEqualTo(RunStatus.COMPLETED);
    assertThat(executedLive).contains("quote", "charge", "pack 1", "note", "ask");
    assertThat(executed).containsExactlyElementsOf(executedLive);
  }

  private String everything(WorkflowContext ctx, String item) {
    String quote = ctx.step("quote").input(item).run(String.class, () -> executed("quote"));
    ctx.step("charge")
        .retry(Retry.fixed(3, Duration.ofSeconds(1)))
        .run(
            () -> {
              if (executed.stream().filter("charge"::equals).count() < 2) {
                executed("charge");
                throw new IllegalStateException("not yet");
              }
            });
    ctx.sleep("cool-off", Duration.ofDays(1));
    ChildHandle<String> parcel = ctx.child(PARCEL).start("parcel", item);
    List<String> packed =
        ctx.parallel(
            "pack",
            List.of(1, 2, 3),
            (branch, number) -> {
              branch.sleep("fetch", Duration.ofHours(number));
              return branch.step("box", String.class, () -> executed("pack " + number));
            });
    try {
      ctx.step(
          "insure",
          () -> {
            throw new NonRetryableException("nobody insures this");
          });
    } catch (StepFailedException e) {
      ctx.step("note", () -> executed("note"));
    }
    try {
      ctx.parallel(
          "advertise",
          List.of("mail", "post"),
          (branch, how) -> {
            branch.step("print", () -> executed("print"));
            return branch.step(
                "send",
                String.class,
                () -> {
                  throw new NonRetryableException(how + " is closed");
                });
          });
    } catch (BranchFailedException e) {
      ctx.sleep("sulk", Duration.ofMinutes(1));
    }
    String carrier =
        ctx.race(
            "carrier",
            Branch.of(
                "slow",
                branch -> {
                  branch.sleep("wait", Duration.ofDays(9));
                  return "slow";
                }),
            Branch.of("fast", branch -> branch.step("ask", String.class, () -> executed("ask"))));
    return String.join(", ", quote, packed.toString(), carrier, parcel.result());
  }

  @Test
  void steps_in_another_order_differ_at_the_first_of_them(KagziEnv env) {
    RunHistory history = record(env, this::chargeThenShip);

    assertThat(
            difference(
                history,
                (ctx, item) -> {
                  ctx.step("charge", () -> executed("charge"));
                  ctx.step("ship", () -> executed("ship"));
                  ctx.sleep("cool-off", Duration.ofDays(1));
                  return "done";
                }))
        .satisfies(
            e -> {
              assertThat(e.code()).isEqualTo("REPLAY_DIFFERS");
              assertThat(e.runId()).isEqualTo(history.run().runId());
              assertThat(e.step()).isEqualTo(2);
              assertThat(e.recorded()).isEqualTo("sleep cool-off");
              assertThat(e.asked()).isEqualTo("asks for step ship");
            })
        .hasMessageContaining(history.run().runId())
        .hasMessageContaining("step 2: on record is sleep cool-off, the code asks for step ship");
    assertThat(executed).containsExactly("charge", "ship");
  }

  @Test
  void a_sleep_that_was_moved_before_its_step_differs(KagziEnv env) {
    RunHistory history = record(env, this::chargeThenShip);

    assertDiffers(
        history,
        (ctx, item) -> {
          ctx.sleep("cool-off", Duration.ofDays(1));
          ctx.step("charge", () -> executed("charge"));
          ctx.step("ship", () -> executed("ship"));
          return "done";
        },
        "step 1: on record is step charge, the code asks for sleep cool-off");
  }

  @Test
  void a_step_that_is_new_gone_or_of_another_kind_differs(KagziEnv env) {
    RunHistory history = record(env, this::chargeThenShip);

    assertDiffers(
        history,
        (ctx, item) -> {
          ctx.step("audit", () -> executed("audit"));
          return chargeThenShip(ctx, item);
        },
        "step 1: on record is step charge, the code asks for step audit");
    assertDiffers(
        history,
        (ctx, item) -> {
          String done = chargeThenShip(ctx, item);
          ctx.sleep("rest", Duration.ofDays(1));
          return done;
        },
        "step 4: on record is no further step (the run ended as COMPLETED), the code asks for sleep rest");
    assertDiffers(
        history,
        (ctx, item) -> {
          ctx.step("charge", () -> executed("charge"));
          ctx.sleep("cool-off", Duration.ofDays(1));
          return "done";
        },
        "step 3: on record is step ship, the code returns without it");
    assertDiffers(
        history,
        (ctx, item) -> {
          ctx.step("charge", () -> executed("charge"));
          ctx.step("cool-off", () -> executed("cool-off"));
          return "done";
        },
        "step 2: on record is sleep cool-off, the code asks for step cool-off");
    assertThat(executed).containsExactly("charge", "ship");
  }

  @Test
  void another_input_of_a_step_differs(KagziEnv env) {
    RunHistory history =
        record(
            env, (ctx, item) -> ctx.step("pay").input(42).run(String.class, () -> executed("pay")));

    replay(
        history, (ctx, item) -> ctx.step("pay").input(42).run(String.class, () -> executed("pay")));
    assertDiffers(
        history,
        (ctx, item) -> ctx.step("pay").input(43).run(String.class, () -> executed("pay")),
        "step 1: step pay: the code gives it another input than the one on record");
  }

  @Test
  void another_result_or_failure_of_the_run_differs(KagziEnv env) {
    RunHistory completed = record(env, (ctx, item) -> ctx.step("a", String.class, () -> "a"));
    RunHistory failed =
        record(
            env,
            (ctx, item) -> {
              ctx.step("a", () -> executed("a"));
              throw new NonRetryableException("no stock");
            });

    assertDiffers(
        completed,
        (ctx, item) -> ctx.step("a", String.class, () -> "a") + "!",
        "the end: on record is the result a, the code returns a!");
    assertDiffers(
        completed,
        (ctx, item) -> {
          throw new NonRetryableException(ctx.step("a", String.class, () -> "a"));
        },
        "the end: on record is COMPLETED, the code ends with FAILED (",
        "NonRetryableException: a)");
    assertDiffers(
        failed,
        (ctx, item) -> ctx.step("a", String.class, () -> "a"),
        "the end: on record is FAILED (",
        "no stock), the code completes");
    replay(
        failed,
        (ctx, item) -> {
          ctx.step("a", () -> executed("a"));
          throw new NonRetryableException("no stock at all");
        });
  }

  @Test
  void the_code_of_an_open_run_may_differ_after_the_end_of_its_history(KagziEnv env) {
    RunHistory history = recordUntil(env, this::chargeThenShip, Duration.ofHours(1));

    assertThat(history.run().status()).isEqualTo(RunStatus.SLEEPING);
    replay(
        history,
        (ctx, item) -> {
          ctx.step("charge", () -> executed("charge"));
          ctx.sleep("cool-off", Duration.ofDays(1));
          ctx.step("audit", () -> executed("audit"));
          return "another";
        });
    assertDiffers(
        history,
        (ctx, item) -> {
          ctx.step("charge", () -> executed("charge"));
          ctx.sleep("calm-down", Duration.ofDays(1));
          return "done";
        },
        "step 2: on record is sleep cool-off, the code asks for sleep calm-down");
    assertThat(executed).containsExactly("charge");
  }

  @Test
  void every_branch_of_an_open_run_is_compared(KagziEnv env) {
    Workflow<String, String> recorded = branches("box");
    RunHistory history = recordUntil(env, recorded, Duration.ofHours(1));
    List<String> executedLive = List.copyOf(executed);

    replay(history, recorded);
    assertDiffers(history, branches("crate"), "on record is step pack[1]/box, ");
    assertThat(executed).containsExactlyElementsOf(executedLive);
  }

  /** The first branch sleeps at once, the second after its step. */
  private Workflow<String, String> branches(String step) {
    return (ctx, item) ->
        ctx.parallel(
                "pack",
                List.of(0, 1),
                (branch, number) -> {
                  if (number == 1) {
                    branch.step(step, () -> executed(step));
                  }
                  branch.sleep("dry", Duration.ofDays(1));
                  return "dry";
                })
            .toString();
  }

  @Test
  void a_step_that_is_named_like_a_failed_branch_is_compared(KagziEnv env) {
    RunHistory history =
        record(
            env,
            (ctx, item) -> {
              failedGroup(ctx);
              ctx.step("pack[x]", () -> executed("pack[x]"));
              return "done";
            });

    assertDiffers(
        history,
        (ctx, item) -> {
          failedGroup(ctx);
          return "done";
        },
        "pack[x]");
  }

  private void failedGroup(WorkflowContext ctx) {
    try {
      ctx.parallel(
          "pack",
          List.of(1),
          (branch, number) -> {
            branch.step("box", () -> executed("box"));
            throw new NonRetryableException("no boxes");
          });
    } catch (BranchFailedException e) {
      executed("caught");
    }
  }

  @Test
  void reordered_branches_differ(KagziEnv env) {
    RunHistory history =
        record(
            env,
            (ctx, item) -> {
              ctx.parallel("pack", List.of(0), this::box);
              return ctx.step("ship", String.class, () -> executed("ship"));
            });

    assertDiffers(
        history,
        (ctx, item) -> {
          String shipped = ctx.step("ship", String.class, () -> executed("ship"));
          ctx.parallel("pack", List.of(0), this::box);
          return shipped;
        },
        "step 1: on record is step pack[0]/box, the code asks for step ship");
  }

  private String box(WorkflowContext branch, int number) {
    return branch.step("box", String.class, () -> executed("box " + number));
  }

  @Test
  void a_cancelled_terminated_or_timed_out_run_counts_as_open(KagziEnv env) {
    env.worker().workflow(ORDER, this::chargeThenShip).start();
    RunHandle<String> cancelled = env.kagzi().workflow(ORDER).start("lamp");
    RunHandle<String> terminated = env.kagzi().workflow(ORDER).start("lamp");
    RunHandle<String> late =
        env.kagzi().workflow(ORDER).executionTimeout(Duration.ofHours(2)).start("lamp");
    env.settle();
    cancelled.cancel();
    terminated.terminate("not wanted");
    env.advance(Duration.ofHours(3));

    assertThat(late.status()).isEqualTo(RunStatus.TIMED_OUT);
    for (RunHandle<String> run : List.of(cancelled, terminated, late)) {
      replay(read(run.history()), this::chargeThenShip);
      assertDiffers(
          run.history(),
          (ctx, item) -> ctx.step("ship", String.class, () -> executed("ship")),
          "step 1: on record is step charge, the code asks for step ship");
    }
  }

  @Test
  void a_run_that_was_retried_as_a_whole_matches_its_history(KagziEnv env) {
    Workflow<String, String> code =
        (ctx, item) -> {
          ctx.step("charge", () -> executed("charge"));
          return ctx.step("ship")
              .retry(Retry.none())
              .run(
                  String.class,
                  () -> {
                    if (executed.stream().filter("ship"::equals).count() < 2) {
                      executed("ship");
                      throw new IllegalStateException("no van");
                    }
                    return "shipped";
                  });
        };
    env.worker().workflow(ORDER, code).start();
    RunHandle<String> run =
        env.kagzi().workflow(ORDER).retry(Retry.fixed(3, Duration.ofHours(1))).start("lamp");
    env.advance(Duration.ofMinutes(30));
    RunHistory failing = read(run.history());
    env.advance(Duration.ofHours(4));

    assertThat(failing.run().attempts()).isEqualTo(2);
    assertThat(run.history().run().attempts()).isEqualTo(3);
    replay(failing, code);
    replay(read(run.history()), code);
    assertDiffers(
        run.history(),
        (ctx, item) -> {
          ctx.step("charge", () -> executed("charge"));
          return "done";
        },
        "step 2: on record is step ship, the code returns without it");
  }

  @Test
  void encrypted_payloads_are_kept_as_they_are_and_read_by_their_codec(KagziEnv env) {
    PayloadCodec codec =
        new JacksonCodec().then(new GzipTransform(), new AesGcmTransform("k1", new byte[32]));
    Workflow<String, String> code =
        (ctx, item) ->
            ctx.step("pay").input(item).run(String.class, () -> executed("secret")) + item;
    RunHistory history;
    try (Kagzi kagzi =
        Kagzi.builder().address(env.address()).namespace(env.namespace()).codec(codec).connect()) {
      kagzi.worker().workflow(ORDER, code).start();
      RunHandle<String> run = kagzi.workflow(ORDER).start("lamp");
      run.result(Duration.ofSeconds(20));
      history = read(run.history());
    }

    new Replayer().codec(codec).workflow(ORDER, code).replay(history);

    assertThat(history.toJson()).contains("\"data\"").doesNotContain("lamp", "secret");
    assertThat(executed).containsExactly("secret");
    assertDiffers(history, code, "input: ");
  }

  @Test
  void files_of_a_folder_are_replayed_against_what_the_workers_serve(
      KagziEnv env, @TempDir Path folder) throws IOException {
    RunHistory good = record(env, this::chargeThenShip);
    Files.createDirectory(folder.resolve("old"));
    good.write(folder.resolve("old/good.json"));
    env.replayAll(folder);

    RunHistory other =
        record(env, (ctx, item) -> ctx.step("ship", String.class, () -> executed("ship")));
    other.write(folder.resolve("other.json"));
    env.replay(folder.resolve("other.json"));

    assertThatThrownBy(() -> env.replayAll(folder))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("1 of 2 histories differ:")
        .hasMessageContaining("good.json: run " + good.run().runId() + " of order: step 1: ");
    assertThatThrownBy(() -> env.replay(folder.resolve("old/good.json")))
        .isInstanceOf(AssertionError.class)
        .hasCauseInstanceOf(ReplayDiffersException.class)
        .hasMessageStartingWith(folder.resolve("old/good.json").toString());
  }

  @Test
  void a_folder_without_histories_a_type_without_code_and_unknown_formats_are_refused(
      KagziEnv env, @TempDir Path folder) throws IOException {
    assertThatThrownBy(() -> env.replayAll(folder))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("no .json file");

    RunHistory history = record(env, this::chargeThenShip);
    Path newer = folder.resolve("newer.json");
    Files.writeString(newer, history.toJson().replace("kagzi-history/1", "kagzi-history/2"));
    assertThatThrownBy(() -> env.replay(newer))
        .isInstanceOfSatisfying(
            InvalidArgumentException.class,
            e -> assertThat(e.code()).isEqualTo("HISTORY_UNREADABLE"))
        .hasMessageContaining(
            "newer.json: history: format: kagzi-history/2 (expected: kagzi-history/1;");

    assertThatThrownBy(() -> new Replayer().workflow(PARCEL, (ctx, item) -> item).replay(history))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("workflow: order (expected: one of [parcel])");
  }

  // ---- helpers

  private String executed(String what) {
    executed.add(what);
    return what;
  }

  private String chargeThenShip(WorkflowContext ctx, String item) {
    ctx.step("charge", () -> executed("charge"));
    ctx.sleep("cool-off", Duration.ofDays(1));
    ctx.step("ship", () -> executed("ship"));
    return "done";
  }

  /** Returns the history of a run that has ended. */
  private RunHistory record(KagziEnv env, Workflow<String, String> code) {
    return recordUntil(env, code, Duration.ofDays(30));
  }

  private RunHistory recordUntil(KagziEnv env, Workflow<String, String> code, Duration time) {
    try (Worker worker = env.worker().workflow(ORDER, code).start()) {
      RunHandle<String> run = env.kagzi().workflow(ORDER).start("lamp");
      env.advance(time);
      assertThat(worker.isRegistered()).isTrue();
      return read(run.history());
    }
  }

  /** Returns the history as read from a file. */
  private static RunHistory read(RunHistory history) {
    RunHistory read = RunHistory.parse(history.toJson());
    assertThat(read.toJson()).isEqualTo(history.toJson());
    return read;
  }

  private static void replay(RunHistory history, Workflow<String, String> code) {
    assertThatCode(() -> new Replayer().workflow(ORDER, code).replay(history))
        .doesNotThrowAnyException();
  }

  private static ReplayDiffersException difference(
      RunHistory history, Workflow<String, String> code) {
    return catchThrowableOfType(
        ReplayDiffersException.class, () -> new Replayer().workflow(ORDER, code).replay(history));
  }

  private static void assertDiffers(
      RunHistory history, Workflow<String, String> code, String... parts) {
    assertThat(difference(history, code)).isNotNull().message().contains(parts);
  }
}
