package dev.kagzi.sdk;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.StepKind;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A run waits for the answers to its reports, even if its code is interrupted meanwhile. */
class ReportAnswerTest extends FakeServerTest {
  private final AtomicReference<@Nullable Thread> thread = new AtomicReference<>();
  private final AtomicInteger executions = new AtomicInteger();
  private final List<Object> log = new CopyOnWriteArrayList<>();
  private final CountDownLatch goOn = new CountDownLatch(1);

  @AfterEach
  void openGates() {
    goOn.countDown();
  }

  @Test
  void an_interrupt_from_another_thread_neither_ends_the_wait_nor_makes_it_spin() {
    CountDownLatch reports = server.hold("Report");
    worker(
            (ctx, name) -> {
              thread.set(Thread.currentThread());
              String one = ctx.step("one", String.class, this::count);
              ctx.step("two", () -> log.add(Thread.interrupted()));
              return one;
            })
        .start();
    RunHandle<String> run = start();
    await().until(() -> server.calls("Report") == 1 && isParked());

    requireNonNull(thread.get()).interrupt();

    await().until(this::isParked);
    assertThat(log).isEmpty();
    reports.countDown();
    assertThat(run.result(SOON)).isEqualTo("execution 1");
    assertThat(epoch(run)).isEqualTo(1);
    assertThat(steps(run)).containsExactly("one", "two");
    assertThat(log).as("the interrupt is kept for the code").containsExactly(true);
  }

  @Test
  void the_end_of_a_run_that_was_deleted_is_not_reported_again() {
    CountDownLatch reports = server.hold("Report");
    Worker worker = worker((ctx, name) -> name).start();
    RunHandle<String> run = start();
    await().until(() -> server.calls("Report") == 1);
    server.state.with(run.runId(), it -> it.deleted = true);
    reports.countDown();

    await().until(() -> worker.activeCount() == 0);
    assertThat(server.workers.reports.stream().flatMap(request -> request.getItemsList().stream()))
        .extracting(ReportItem::getWhatCase)
        .containsExactly(ReportItem.WhatCase.WORKFLOW_DONE);
  }

  @Test
  void an_interrupt_by_the_code_itself_neither_ends_the_wait_nor_makes_it_spin() {
    CountDownLatch reports = server.hold("Report");
    worker(
            (ctx, name) -> {
              thread.set(Thread.currentThread());
              String one = ctx.step("one", String.class, this::count);
              Thread.currentThread().interrupt();
              ctx.step("two", () -> log.add(Thread.interrupted()));
              return one;
            })
        .start();
    RunHandle<String> run = start();

    await().until(() -> server.calls("Report") == 1 && isParked());

    assertThat(log).isEmpty();
    reports.countDown();
    assertThat(run.result(SOON)).isEqualTo("execution 1");
    assertThat(epoch(run)).isEqualTo(1);
    assertThat(steps(run)).containsExactly("one", "two");
    assertThat(log).as("the interrupt is kept for the code").containsExactly(true);
  }

  @Test
  void a_result_sent_while_code_ran_between_steps_is_awaited_by_the_next_step() {
    CountDownLatch reports = server.hold("Report");
    worker(
            (ctx, name) -> {
              thread.set(Thread.currentThread());
              ctx.step("one", () -> {});
              goOn.await();
              ctx.step("two", () -> log.add("two"));
              return name;
            })
        .start();
    RunHandle<String> run = start();
    await().until(() -> server.calls("Report") == 1);

    goOn.countDown();

    await().until(this::isParked);
    assertThat(log).isEmpty();
    reports.countDown();
    run.result(SOON);
    assertThat(log).containsExactly("two");
    assertThat(reportedSteps()).containsExactly("one", "two");
  }

  @Test
  void a_run_ends_only_after_the_answer_to_a_result_sent_while_code_ran_after_the_step() {
    CountDownLatch reports = server.hold("Report");
    worker(
            (ctx, name) -> {
              thread.set(Thread.currentThread());
              String one = ctx.step("one", String.class, () -> "ours");
              goOn.await();
              return "used " + one;
            })
        .start();
    RunHandle<String> run = start();
    await().until(() -> server.calls("Report") == 1);
    // Another worker's result was recorded first, so the code's own value must not count.
    server.state.with(run.runId(), r -> r.steps.put("one", recorded("one", "\"theirs\"")));

    goOn.countDown();

    await().until(this::isParked);
    reports.countDown();
    assertThat(run.result(SOON)).isEqualTo("used theirs");
    assertThat(epoch(run)).isEqualTo(2);
  }

  private String count() {
    return "execution " + executions.incrementAndGet();
  }

  /**
   * Returns whether the run's thread waits in SDK code. A thread that spins is running, or has a
   * pending interrupt that ends each of its waits.
   */
  private boolean isParked() {
    Thread code = thread.get();
    return code != null
        && code.getState() == Thread.State.WAITING
        && !code.isInterrupted()
        && Stream.of(code.getStackTrace())
            .map(StackTraceElement::getClassName)
            .filter(name -> name.startsWith("dev.kagzi."))
            .findFirst()
            .orElse("")
            .startsWith("dev.kagzi.sdk.internal.run.");
  }

  private List<String> reportedSteps() {
    return server.workers.reports.stream()
        .flatMap(report -> report.getItemsList().stream())
        .filter(ReportItem::hasStepDone)
        .map(item -> item.getStepDone().getStepKey())
        .toList();
  }

  private static RecordedStep recorded(String key, String json) {
    return RecordedStep.newBuilder()
        .setStepKey(key)
        .setAttempt(1)
        .setKind(StepKind.STEP_KIND_FUNCTION)
        .setOutput(Payload.newBuilder().setData(ByteString.copyFromUtf8(json)))
        .build();
  }
}
