package dev.kagzi.sdk;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.StepKind;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class WorkflowTest extends FakeServerTest {
  private final AtomicInteger executions = new AtomicInteger();
  private final List<String> log = new CopyOnWriteArrayList<>();

  @Test
  void steps_return_their_values_and_reused_names_are_numbered() {
    worker(
            (ctx, name) -> {
              String a = ctx.step("say", String.class, () -> "a");
              String b = ctx.step("say").run(String.class, () -> "b");
              List<Integer> c = ctx.step("list", new TypeRef<List<Integer>>() {}, () -> List.of(1));
              ctx.step("act", () -> log.add("acted"));
              return a + b + c;
            })
        .start();

    RunHandle<String> run = start();

    assertThat(run.result(SOON)).isEqualTo("ab[1]");
    assertThat(steps(run)).containsExactly("say", "say#2", "list", "act");
    assertThat(log).containsExactly("acted");
  }

  @Test
  void a_run_without_steps_is_one_report_and_the_last_step_goes_with_the_end() {
    worker(
            (ctx, name) -> {
              if (name.equals("steps")) {
                ctx.step("one", String.class, () -> "1");
                ctx.step("two", String.class, () -> "2");
              }
              return name;
            })
        .start();

    kagzi.workflow(GREET).start("none").result(SOON);
    int none = server.calls("Report");
    kagzi.workflow(GREET).start("steps").result(SOON);

    assertThat(none).isEqualTo(1);
    assertThat(server.calls("Report") - none).isEqualTo(2);
    assertThat(server.workers.reports.getLast().getItemsList())
        .extracting(ReportItem::getWhatCase)
        .containsExactly(ReportItem.WhatCase.STEP_DONE, ReportItem.WhatCase.WORKFLOW_DONE);
  }

  @Test
  void times_are_sent_with_the_next_report_and_recorded_before_the_next_step() {
    worker(
            (ctx, name) -> {
              ctx.now();
              if (name.equals("step")) {
                ctx.step("one", () -> log.add("with " + steps(kagzi.run(ctx.runId(), GREET))));
              }
              return name;
            })
        .start();

    kagzi.workflow(GREET).start("alone").result(SOON);

    assertThat(server.calls("Report")).isEqualTo(1);
    assertThat(server.workers.reports.getLast().getItemsList())
        .extracting(ReportItem::getWhatCase)
        .containsExactly(ReportItem.WhatCase.STEP_DONE, ReportItem.WhatCase.WORKFLOW_DONE);
    kagzi.workflow(GREET).start("step").result(SOON);
    assertThat(log).containsExactly("with [now]");
  }

  @Test
  void the_next_step_does_not_begin_before_the_previous_result_is_answered() throws Exception {
    CountDownLatch gate = server.hold("Report");
    CountDownLatch first = new CountDownLatch(1);
    worker(
            (ctx, name) -> {
              ctx.step("one", () -> {});
              first.countDown();
              ctx.step("two", () -> log.add("two"));
              return name;
            })
        .start();
    RunHandle<String> run = start();
    assertThat(first.await(10, TimeUnit.SECONDS)).isTrue();
    await().until(() -> server.calls("Report") == 1);

    assertThat(log).isEmpty();
    gate.countDown();

    run.result(SOON);
    assertThat(log).containsExactly("two");
  }

  @Test
  void recorded_steps_are_not_executed_again_after_a_sleep() {
    assertThat(stepThenSleepThenStep()).isEqualTo("v1!");
    assertThat(server.calls("GetHistory")).isZero();
  }

  @Test
  void history_that_is_too_long_for_a_task_is_fetched() {
    server.keepHistoryApart();

    assertThat(stepThenSleepThenStep()).isEqualTo("v1!");
    assertThat(server.calls("GetHistory")).isEqualTo(1);
  }

  private String stepThenSleepThenStep() {
    worker(
            (ctx, name) -> {
              String a = ctx.step("once", String.class, () -> "v" + executions.incrementAndGet());
              ctx.sleep("nap", "1200ms");
              return a + ctx.step("after", String.class, () -> "!");
            })
        .start();
    RunHandle<String> run = start();
    String result = run.result(SOON);
    assertThat(epoch(run)).isEqualTo(2);
    return result;
  }

  @Test
  void a_short_sleep_and_none_at_all_are_waited_in_place() {
    worker(
            (ctx, name) -> {
              ctx.sleep("none", Duration.ZERO);
              ctx.sleepUntil("past", Instant.EPOCH);
              ctx.sleep("short", Duration.ofMillis(300));
              ctx.sleep("short", Duration.ofMillis(1));
              return name;
            })
        .start();
    long begun = System.nanoTime();

    RunHandle<String> run = start();
    run.result(SOON);

    assertThat(System.nanoTime() - begun).isGreaterThan(290_000_000L);
    assertThat(epoch(run)).isEqualTo(1);
    assertThat(steps(run)).containsExactly("none", "past", "short", "short#2");
  }

  @Test
  void a_failing_step_is_tried_again_in_place_when_the_delay_is_short() {
    worker(
            (ctx, name) ->
                ctx.step("flaky")
                    .retry(Retry.fixed(3, Duration.ofMillis(20)))
                    .run(
                        String.class,
                        () -> {
                          if (executions.incrementAndGet() < 3) {
                            throw new IOException("try " + executions.get());
                          }
                          return "done";
                        }))
        .start();

    RunHandle<String> run = start();

    assertThat(run.result(SOON)).isEqualTo("done");
    assertThat(executions).hasValue(3);
    assertThat(epoch(run)).isEqualTo(1);
  }

  @Test
  void a_long_delay_releases_the_worker_and_the_run_comes_back_for_its_next_attempt() {
    worker(
            (ctx, name) -> {
              try {
                return ctx.step("flaky")
                    .retry(Retry.fixed(2, Duration.ofMillis(1_100)))
                    .run(
                        String.class,
                        () -> {
                          if (executions.incrementAndGet() < 2) {
                            throw new RetryAfterException("later", Duration.ofMillis(1_050));
                          }
                          return "done";
                        });
              } catch (Exception e) {
                log.add("compensated");
                throw e;
              }
            })
        .start();

    RunHandle<String> run = start();

    assertThat(run.result(SOON)).isEqualTo("done");
    assertThat(epoch(run)).isEqualTo(2);
    assertThat(log).as("a retry is no failure that the code sees").isEmpty();
  }

  @Test
  void a_final_failure_reaches_the_code_and_is_the_same_on_replay() {
    List<String> seen = new CopyOnWriteArrayList<>();
    worker(
            (ctx, name) -> {
              try {
                ctx.step(
                    "charge",
                    () -> {
                      executions.incrementAndGet();
                      throw new NonRetryableException("card declined");
                    });
                return "charged";
              } catch (StepFailedException e) {
                seen.add(
                    e.getCause()
                        + " "
                        + e.getMessage()
                        + " "
                        + e.failure().isA(NonRetryableException.class));
                ctx.sleep("before-refund", Duration.ofMillis(1_100));
                return ctx.step("refund", String.class, () -> "refunded: " + e.failure().message());
              }
            })
        .start();

    assertThat(start().result(SOON)).isEqualTo("refunded: card declined");
    assertThat(executions).hasValue(1);
    String failed = "step charge failed: " + NonRetryableException.class.getName();
    assertThat(seen).hasSize(2).containsOnly("null " + failed + ": card declined true");
  }

  @Test
  void an_uncaught_step_failure_fails_the_run_with_the_steps_error() {
    worker(
            (ctx, name) -> {
              ctx.step("charge")
                  .retry(Retry.none())
                  .run(
                      () -> {
                        throw new IOException("gateway");
                      });
              return name;
            })
        .start();

    assertThatThrownBy(() -> start().result(SOON))
        .isInstanceOfSatisfying(
            RunFailedException.class,
            e -> {
              assertThat(e.failure().type()).isEqualTo("java.io.IOException");
              assertThat(e.failure().metadata()).containsEntry("step", "charge");
            })
        .hasMessageContaining("gateway");
  }

  @Test
  void a_run_with_a_policy_is_tried_again_as_a_whole() {
    AtomicInteger attempts = new AtomicInteger();
    worker(
            (ctx, name) -> {
              ctx.step("once", () -> executions.incrementAndGet());
              attempts.set(ctx.attempt());
              if (ctx.attempt() < 3) {
                throw new IllegalStateException("not yet");
              }
              return name;
            })
        .start();

    RunHandle<String> run =
        kagzi.workflow(GREET).retry(Retry.fixed(3, Duration.ofMillis(10))).start("Ada");

    assertThat(run.result(SOON)).isEqualTo("Ada");
    assertThat(attempts).hasValue(3);
    assertThat(executions).hasValue(1);
  }

  @Test
  void code_that_swallows_the_suspension_can_do_no_more_and_its_result_is_ignored() {
    worker(
            (ctx, name) -> {
              try {
                ctx.sleep("nap", Duration.ofMillis(1_200));
              } catch (Throwable e) {
                log.add("swallowed");
                try {
                  ctx.step("compensate", () -> log.add("compensated"));
                } catch (Throwable again) {
                  log.add("refused");
                }
                return "wrong";
              }
              return "right";
            })
        .start();

    assertThat(start().result(SOON)).isEqualTo("right");
    assertThat(log).containsExactly("swallowed", "refused");
  }

  @Test
  void null_is_a_result_like_any_other() {
    WorkflowType<String, String> type = GREET;
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) -> {
              String nothing = ctx.step("nothing", String.class, () -> null);
              ctx.sleep("nap", Duration.ofMillis(1_100));
              return nothing == null ? "null" : "value";
            })
        .start();

    assertThat(start().result(SOON)).isEqualTo("null");
  }

  @Test
  void a_step_of_another_kind_than_recorded_blocks_the_run_until_the_code_fits() {
    AtomicBoolean fixed = new AtomicBoolean();
    worker(
            (ctx, name) -> {
              if (fixed.get()) {
                ctx.step("x", () -> {});
              } else {
                ctx.sleep("x", Duration.ZERO);
              }
              return "went on";
            })
        .start();
    RunHandle<String> run = startWithRecorded(step("x").setOutput(json("1")).build());

    await().until(() -> server.state.with(run.runId(), r -> r.blockedBy != null));
    assertThat(run.status()).isNotEqualTo(RunStatus.FAILED);
    assertThat(blockedBy(run)).contains("SLEEP").contains("FUNCTION").contains("STEP_KIND_CHANGED");
    fixed.set(true);

    assertThat(run.result(SOON)).isEqualTo("went on");
    assertThat(releasedDelaysMs(run).getFirst()).isEqualTo(1_000);
  }

  @Test
  void the_delay_of_a_blocked_run_begins_again_after_the_run_has_continued() {
    AtomicInteger executions = new AtomicInteger();
    worker(
            (ctx, name) -> {
              if (executions.incrementAndGet() == 2) {
                ctx.step("x", () -> {});
                ctx.sleep("nap", Duration.ofSeconds(2));
              }
              ctx.sleep("x", Duration.ZERO);
              return "";
            })
        .start();
    RunHandle<String> run = startWithRecorded(step("x").setOutput(json("1")).build());

    await()
        .atMost(SOON)
        .until(() -> server.state.with(run.runId(), r -> r.releasedDelaysMs.size() == 2));
    assertThat(releasedDelaysMs(run)).containsExactly(1_000L, 1_000L);
  }

  @Test
  void a_sleep_on_record_is_not_taken_for_the_result_of_a_step() {
    worker((ctx, name) -> ctx.step("x", String.class, () -> "executed")).start();

    RunHandle<String> run =
        startWithRecorded(
            step("x").setKind(StepKind.STEP_KIND_SLEEP).setOutput(json("null")).build());

    await().until(() -> server.state.with(run.runId(), r -> r.blockedBy != null));
    assertThat(blockedBy(run))
        .contains("is recorded as a SLEEP, but the code calls it as a FUNCTION");
  }

  @Test
  void a_recorded_result_that_cannot_be_read_blocks_the_run_with_growing_delay() {
    worker((ctx, name) -> "" + ctx.step("x", Integer.class, () -> 1)).start();

    RunHandle<String> run = startWithRecorded(step("x").setOutput(json("\"text\"")).build());

    await()
        .atMost(SOON)
        .until(() -> server.state.with(run.runId(), r -> r.releasedDelaysMs.size() == 2));
    assertThat(releasedDelaysMs(run)).containsExactly(1_000L, 2_000L);
    assertThat(blockedBy(run)).contains("step x").contains("Integer").contains("RESULT_UNREADABLE");
  }

  @Test
  void an_input_that_cannot_be_read_blocks_the_run() {
    kagzi
        .worker()
        .workflow(WorkflowType.of("greet", Integer.class, String.class), (ctx, n) -> "" + n)
        .start();

    RunHandle<String> run = start();

    await().until(() -> server.state.with(run.runId(), r -> r.blockedBy != null));
    assertThat(blockedBy(run)).contains("input").contains("INPUT_UNREADABLE");
  }

  @Test
  void a_type_that_the_worker_does_not_have_blocks_the_run() {
    server.dispatchAs("another");
    worker((ctx, name) -> name).start();

    RunHandle<String> run = start();

    await().until(() -> server.state.with(run.runId(), r -> r.blockedBy != null));
    assertThat(blockedBy(run)).contains("workflow type another").contains("TYPE_UNKNOWN");
    assertThat(run.status()).isNotEqualTo(RunStatus.FAILED);
  }

  @Test
  void a_result_that_cannot_be_written_fails_its_step_once() {
    worker(
            (ctx, name) -> {
              Map<String, Object> self = new HashMap<>();
              self.put("self", self);
              executions.incrementAndGet();
              ctx.step("self", Object.class, () -> self);
              return name;
            })
        .start();

    assertThatThrownBy(() -> start().result(SOON))
        .isInstanceOfSatisfying(
            RunFailedException.class,
            e -> assertThat(e.failure().metadata()).containsEntry("code", "PAYLOAD_UNWRITABLE"))
        .hasMessageContaining("PayloadException");
    assertThat(executions).hasValue(1);
  }

  @Test
  void a_result_that_is_too_large_fails_its_step() {
    worker(
            (ctx, name) -> {
              try {
                ctx.step("big", String.class, () -> "x".repeat(3 << 20));
                ctx.step("next", () -> log.add("next"));
                return "stored";
              } catch (StepFailedException e) {
                return e.failure().message();
              }
            })
        .start();

    assertThat(start().result(SOON)).isEqualTo("output: too large");
    assertThat(log).isEmpty();
  }

  @Test
  void a_run_does_not_complete_if_its_last_result_is_too_large() {
    worker(
            (ctx, name) -> {
              try {
                ctx.step("big", String.class, () -> "x".repeat(3 << 20));
                return "stored";
              } catch (StepFailedException e) {
                return e.failure().message();
              }
            })
        .start();

    assertThat(start().result(SOON)).isEqualTo("output: too large");
  }

  @Test
  void a_run_is_replayed_if_another_value_was_recorded_for_its_step() {
    worker(
            (ctx, name) -> {
              String value =
                  ctx.step(
                      "x",
                      String.class,
                      () -> {
                        // Another worker's result arrives while this one is in flight.
                        server.state.with(
                            ctx.runId(),
                            run ->
                                run.steps.put(
                                    "x", step("x").setOutput(json("\"theirs\"")).build()));
                        return "ours";
                      });
              return ctx.step("use", String.class, () -> "used " + value);
            })
        .start();

    RunHandle<String> run = start();

    assertThat(run.result(SOON)).isEqualTo("used theirs");
    assertThat(epoch(run)).isEqualTo(2);
  }

  @Test
  void a_step_that_was_open_when_its_worker_died_costs_no_attempt() {
    worker((ctx, name) -> ctx.step("x", String.class, () -> "again")).start();

    RunHandle<String> run = startWithRecorded(step("x").setAttempt(1).setOpen(true).build());

    assertThat(run.result(SOON)).isEqualTo("again");
    int attempt =
        server.state.with(run.runId(), r -> requireNonNull(r.steps.get("x")).getAttempt());
    assertThat(attempt).isEqualTo(1);
  }

  @Test
  void the_end_of_a_run_lists_open_steps_that_the_code_did_not_reach() {
    worker((ctx, name) -> ctx.step("new", String.class, () -> "done")).start();

    RunHandle<String> leaves = startWithRecorded(step("gone").setOpen(true).build());
    RunHandle<String> leavesSleep = startWithRecorded(step("nap").setSleepsMs(10).build());
    RunHandle<String> comesBy = startWithRecorded(step("new").setOpen(true).build());
    RunHandle<String> hasNone = startWithRecorded(step("gone").setOutput(json("1")).build());

    assertThat(openSteps(leaves)).isTrue();
    assertThat(openSteps(leavesSleep)).isTrue();
    assertThat(openSteps(comesBy)).isFalse();
    assertThat(openSteps(hasNone)).isFalse();
  }

  private boolean openSteps(RunHandle<String> run) {
    assertThat(run.result(SOON)).isEqualTo("done");
    return server.workers.reports.stream()
        .flatMap(report -> report.getItemsList().stream())
        .filter(item -> item.getRunId().equals(run.runId()) && item.hasWorkflowDone())
        .findFirst()
        .orElseThrow()
        .getWorkflowDone()
        .getOpenSteps();
  }

  @Test
  void a_long_step_is_reported_as_started() {
    CountDownLatch end = new CountDownLatch(1);
    worker(
            (ctx, name) -> {
              ctx.step("slow", () -> end.await());
              return name;
            })
        .start();
    RunHandle<String> run = start();

    await().until(() -> server.state.with(run.runId(), r -> r.startedSteps.contains("slow")));
    end.countDown();

    run.result(SOON);
  }

  @Test
  void a_step_is_reported_as_started_once_and_not_before_it_has_run_for_a_while() {
    CountDownLatch end = new CountDownLatch(1);
    worker(
            (ctx, name) -> {
              ctx.step("slow", () -> end.await());
              return name;
            })
        .start();
    RunHandle<String> run = start();

    await().until(() -> server.workers.heartbeats.size() > 1);
    end.countDown();

    run.result(SOON);
    assertThat(server.workers.reports)
        .flatExtracting(report -> report.getItemsList())
        .filteredOn(item -> item.hasStepStarted())
        .singleElement()
        .satisfies(
            item ->
                assertThat(item.getStepStarted().getRunningUs()).isGreaterThanOrEqualTo(200_000));
  }

  @Test
  void a_result_is_sent_while_code_between_steps_is_still_running() {
    CountDownLatch end = new CountDownLatch(1);
    worker(
            (ctx, name) -> {
              ctx.step("quick", () -> {});
              end.await();
              return name;
            })
        .start();
    RunHandle<String> run = start();

    await().until(() -> server.state.with(run.runId(), r -> r.steps.containsKey("quick")));
    end.countDown();

    run.result(SOON);
  }

  @Test
  void the_context_rejects_foreign_threads_nested_steps_and_late_calls() throws Exception {
    AtomicReference<WorkflowContext> kept = new AtomicReference<>();
    worker(
            (ctx, name) -> {
              kept.set(ctx);
              try {
                ctx.step("outer", () -> ctx.step("inner", () -> {}));
              } catch (StepFailedException e) {
                log.add(e.failure().metadata().get("code") + " " + e.failure().message());
              }
              Thread foreign =
                  Thread.ofPlatform()
                      .start(
                          () -> {
                            try {
                              ctx.step("foreign", () -> {});
                            } catch (ContextMisuseException e) {
                              log.add(e.code() + " " + e.getMessage());
                            }
                          });
              foreign.join();
              return name;
            })
        .start();

    start().result(SOON);

    assertThat(log.get(0)).contains("CONTEXT_INSIDE_STEP", "inside a step");
    assertThat(log.get(1)).contains("CONTEXT_FOREIGN_THREAD", "the thread that runs the workflow");
    WorkflowContext late = requireNonNull(kept.get());
    assertThatThrownBy(() -> late.step("late", () -> {}))
        .isInstanceOfSatisfying(
            ContextMisuseException.class, e -> assertThat(e.code()).isEqualTo("CONTEXT_AFTER_END"));
  }

  @Test
  void a_wrong_step_name_fails_the_run_with_a_clear_message() {
    worker((ctx, name) -> ctx.step("a/b", String.class, () -> "x")).start();

    assertThatThrownBy(() -> start().result(SOON)).hasMessageContaining("none of # / @");
  }

  @Test
  void the_context_knows_its_run() {
    worker(
            (ctx, name) ->
                String.join(
                    " ",
                    ctx.workflowId(),
                    ctx.namespace(),
                    ctx.queue(),
                    ctx.workflowType(),
                    "" + ctx.attempt(),
                    "" + ctx.isReplaying(),
                    ctx.startedAt().toString(),
                    ctx.runId()))
        .start();

    RunHandle<String> run = kagzi.workflow(GREET).id("me").start("Ada");

    assertThat(run.result(SOON))
        .isEqualTo("me default default greet 1 false 2023-11-14T22:13:20Z " + run.runId());
  }

  private RunHandle<String> startWithRecorded(RecordedStep step) {
    return server.state.withoutClaims(
        () -> {
          RunHandle<String> run = start();
          server.state.with(run.runId(), r -> r.steps.put(step.getStepKey(), step));
          return run;
        });
  }

  private static RecordedStep.Builder step(String key) {
    return RecordedStep.newBuilder()
        .setStepKey(key)
        .setAttempt(1)
        .setKind(StepKind.STEP_KIND_FUNCTION);
  }

  private static Payload json(String text) {
    return Payload.newBuilder().setData(ByteString.copyFromUtf8(text)).build();
  }
}
