package dev.kagzi.sdk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.protocol.v1.HeartbeatRequest;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportItem.WhatCase;
import dev.kagzi.protocol.v1.WorkflowStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A run may arrive before its start is durable. Its code begins at once, and nothing of it has an
 * effect before the server has said that the run is there.
 */
class EarlyTaskTest extends FakeServerTest {
  private final List<String> log = new CopyOnWriteArrayList<>();
  private final CountDownLatch begun = new CountDownLatch(1);

  @BeforeEach
  void handOutEarly() {
    server.handOutEarly();
  }

  private List<ReportItem> reported() {
    return server.workers.reports.stream()
        .flatMap(request -> request.getItemsList().stream())
        .toList();
  }

  private Stream<WhatCase> kinds() {
    return reported().stream().map(ReportItem::getWhatCase);
  }

  /** The run is another's, or does not exist. */
  private void takeAway(RunHandle<?> run) {
    server.state.with(
        run.runId(),
        it -> {
          it.finish(WorkflowStatus.WORKFLOW_STATUS_CANCELLED);
          return it;
        });
  }

  private void awaitBegun() throws InterruptedException {
    assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void a_run_without_effects_ends_with_one_report_that_asks_by_itself() {
    worker((ctx, name) -> name).start();

    assertThat(start().result(SOON)).isEqualTo("Ada");
    assertThat(kinds()).containsExactly(WhatCase.WORKFLOW_DONE);
    assertThat(reported().getFirst().getStarting()).isTrue();
  }

  @Test
  void and_so_does_one_that_fails_before_any_effect() {
    worker(
            (ctx, name) -> {
              throw new IllegalStateException("no");
            })
        .start();

    assertThatThrownBy(() -> start().result(SOON)).hasMessageContaining("no");
    assertThat(kinds()).containsExactly(WhatCase.WORKFLOW_FAILED);
    assertThat(reported().getFirst().getStarting()).isTrue();
  }

  /** What a run can do to the world. */
  enum Effect {
    STEP {
      @Override
      void have(WorkflowContext ctx, Runnable effect) {
        ctx.step("one", effect::run);
      }
    },
    SLEEP {
      @Override
      void have(WorkflowContext ctx, Runnable effect) {
        ctx.sleep("nap", Duration.ofMillis(1));
        effect.run();
      }
    },
    CHILD {
      @Override
      void have(WorkflowContext ctx, Runnable effect) {
        ctx.child(GREET).start("child", "child").runId();
        effect.run();
      }
    },
    BRANCH {
      @Override
      void have(WorkflowContext ctx, Runnable effect) {
        ctx.parallel(
            "both",
            List.of(
                Branch.of(
                    "left",
                    branch -> {
                      effect.run();
                      return "";
                    })));
      }
    };

    abstract void have(WorkflowContext ctx, Runnable effect);
  }

  @ParameterizedTest
  @EnumSource
  void no_effect_comes_before_the_start_is_known(Effect effect) throws InterruptedException {
    CountDownLatch gate = server.hold("Report");
    worker(
            (ctx, name) -> {
              if (name.equals("child")) {
                return name;
              }
              begun.countDown();
              effect.have(ctx, () -> log.add("effect"));
              return name;
            })
        .start();
    RunHandle<String> run = start();
    awaitBegun();
    await().until(() -> server.calls("Report") == 1);
    assertThat(log).isEmpty();
    gate.countDown();

    assertThat(run.result(SOON)).isEqualTo("Ada");
    assertThat(log).contains("effect");
    assertThat(server.workers.reports.getFirst().getItemsList())
        .extracting(ReportItem::getWhatCase)
        .containsExactly(WhatCase.CONFIRM);
    assertThat(reported()).noneMatch(ReportItem::getStarting);
  }

  @ParameterizedTest
  @EnumSource
  void a_run_that_is_not_ours_after_all_has_no_effect_and_frees_its_slot(Effect effect)
      throws InterruptedException {
    CountDownLatch gate = server.hold("Report");
    Worker worker =
        worker(
                (ctx, name) -> {
                  begun.countDown();
                  effect.have(ctx, () -> log.add("effect"));
                  return name;
                })
            .start();
    RunHandle<String> run = start();
    awaitBegun();
    takeAway(run);
    gate.countDown();

    await().until(() -> worker.activeCount() == 0);
    assertThat(log).isEmpty();
    assertThat(kinds()).containsExactly(WhatCase.CONFIRM);
  }

  @Test
  void the_end_of_a_run_that_is_not_ours_after_all_is_the_last_word() {
    CountDownLatch gate = server.hold("Report");
    Worker worker = worker((ctx, name) -> name).start();
    RunHandle<String> run = start();
    await().until(() -> server.calls("Report") == 1);
    server.state.with(run.runId(), it -> it.gone = true);
    gate.countDown();

    await().until(() -> worker.activeCount() == 0);
    assertThat(kinds()).containsExactly(WhatCase.WORKFLOW_DONE);
  }

  @Test
  void when_the_run_was_started_is_asked_for_when_the_code_wants_to_know() {
    worker((ctx, name) -> ctx.startedAt() + " " + ctx.startedAt()).start();

    Instant created = Instant.ofEpochSecond(1_700_000_000);
    assertThat(start().result(SOON)).isEqualTo(created + " " + created);
    assertThat(kinds()).containsExactly(WhatCase.CONFIRM, WhatCase.WORKFLOW_DONE);
    assertThat(reported().getLast().getStarting()).isFalse();
  }

  @Test
  void another_thread_may_ask_when_the_run_was_started_and_takes_no_answer_away() throws Exception {
    CountDownLatch gate = server.hold("Report");
    CompletableFuture<Instant> told = new CompletableFuture<>();
    worker(
            (ctx, name) -> {
              Thread other = Thread.startVirtualThread(() -> told.complete(ctx.startedAt()));
              begun.countDown();
              other.join();
              ctx.step("one", () -> log.add("effect"));
              return name;
            })
        .start();
    RunHandle<String> run = start();
    awaitBegun();
    await().until(() -> server.calls("Report") == 1);
    assertThat(log).isEmpty();
    gate.countDown();

    assertThat(run.result(SOON)).isEqualTo("Ada");
    assertThat(told.get()).isEqualTo(Instant.ofEpochSecond(1_700_000_000));
    assertThat(kinds())
        .containsExactly(WhatCase.CONFIRM, WhatCase.STEP_DONE, WhatCase.WORKFLOW_DONE);
  }

  @Test
  void a_thread_that_outlives_the_run_does_not_wait_for_an_answer_that_never_comes()
      throws Exception {
    CompletableFuture<WorkflowContext> context = new CompletableFuture<>();
    worker(
            (ctx, name) -> {
              context.complete(ctx);
              return name;
            })
        .start();
    start().result(SOON);

    assertThatThrownBy(() -> context.get().startedAt())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("is no longer executed here");
  }

  @Test
  void code_that_takes_its_time_asks_by_itself_and_is_renewed_from_then_on() throws Exception {
    CountDownLatch gate = server.hold("Report");
    CountDownLatch go = new CountDownLatch(1);
    worker(
            (ctx, name) -> {
              begun.countDown();
              go.await();
              return name;
            })
        .start();
    RunHandle<String> run = start();
    awaitBegun();
    await().until(() -> server.calls("Report") == 1);
    int before = server.workers.heartbeats.size();
    await().until(() -> server.workers.heartbeats.size() >= before + 2);
    List<HeartbeatRequest> unknown = List.copyOf(server.workers.heartbeats);
    gate.countDown();

    await().until(() -> server.workers.heartbeats.getLast().getClaimsCount() == 1);
    assertThat(unknown).allMatch(beat -> beat.getClaimsCount() == 0);
    assertThat(unknown.getLast().getActiveCount()).isEqualTo(1);
    go.countDown();
    assertThat(run.result(SOON)).isEqualTo("Ada");
    assertThat(kinds()).containsExactly(WhatCase.CONFIRM, WhatCase.WORKFLOW_DONE);
  }

  @Test
  void long_code_of_a_run_that_is_not_ours_is_interrupted() throws InterruptedException {
    CountDownLatch gate = server.hold("Report");
    CountDownLatch never = new CountDownLatch(1);
    Worker worker =
        worker(
                (ctx, name) -> {
                  begun.countDown();
                  never.await();
                  return name;
                })
            .start();
    RunHandle<String> run = start();
    awaitBegun();
    takeAway(run);
    gate.countDown();

    await().until(() -> worker.activeCount() == 0);
    assertThat(kinds()).containsExactly(WhatCase.CONFIRM);
  }

  @Test
  void a_run_that_is_given_back_before_its_start_is_known_asks_with_that() throws Exception {
    CountDownLatch never = new CountDownLatch(1);
    CountDownLatch gate = server.hold("Report");
    Worker worker =
        worker(
                (ctx, name) -> {
                  begun.countDown();
                  try {
                    never.await();
                  } finally {
                    log.add("left");
                  }
                  return name;
                })
            .drainTimeout(Duration.ofMillis(100))
            .start();
    RunHandle<String> run = start();
    awaitBegun();
    worker.shutdown();
    await().until(() -> server.calls("Report") >= 1 && log.contains("left"));
    gate.countDown();

    assertThat(worker.awaitTermination(SOON)).isTrue();
    assertThat(reported())
        .filteredOn(ReportItem::hasReleased)
        .singleElement()
        .matches(ReportItem::getStarting);
    assertThat(releasedDelaysMs(run)).containsExactly(0L);
  }
}
