package dev.kagzi.sdk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A draining worker releases runs that it received and has not started. */
class DrainTest extends FakeServerTest {
  private final AtomicInteger executions = new AtomicInteger();
  private final CountDownLatch running = new CountDownLatch(1);
  private final CountDownLatch end = new CountDownLatch(1);

  @AfterEach
  void openGates() {
    end.countDown();
  }

  @Test
  void runs_that_wait_for_a_slot_are_released_at_once_and_another_worker_takes_them()
      throws Exception {
    Worker draining = workerOfOneSlot();
    List<RunHandle<String>> runs = startInOnePoll("a", "b", "c", "d");
    assertThat(running.await(10, TimeUnit.SECONDS)).isTrue();
    await().until(() -> draining.activeCount() == 4);

    try (Kagzi other = Kagzi.connect(server.address())) {
      other.worker().workflow(GREET, (ctx, name) -> "other " + name).start();
      draining.shutdown();

      // The first run still holds the only slot; the others are released without waiting for it.
      List<RunHandle<String>> waiting = runs.subList(1, 4);
      assertThat(waiting)
          .extracting(run -> run.result(SOON))
          .containsExactly("other b", "other c", "other d");
      assertThat(waiting).allSatisfy(this::assertReleasedWithoutExecution);
      assertThat(runs.getFirst().status()).isEqualTo(RunStatus.RUNNING);
    }
    end.countDown();
    assertThat(draining.awaitTermination(SOON)).isTrue();
    assertThat(runs.getFirst().result(SOON)).isEqualTo("a");
    assertThat(executions).hasValue(1);
  }

  @Test
  void a_slot_that_becomes_free_after_the_drain_began_starts_nothing() throws Exception {
    Worker draining = workerOfOneSlot();
    List<RunHandle<String>> runs = startInOnePoll("a", "b", "c");
    assertThat(running.await(10, TimeUnit.SECONDS)).isTrue();
    await().until(() -> draining.activeCount() == 3);
    // The drain has begun and is held here.
    CountDownLatch farewell = server.holdAnswer("Deregister");
    draining.shutdown();
    await().until(() -> !server.workers.deregistrations.isEmpty());

    end.countDown();

    await().until(() -> runs.subList(1, 3).stream().noneMatch(this::isClaimed));
    farewell.countDown();
    assertThat(draining.awaitTermination(SOON)).isTrue();
    assertThat(runs.subList(1, 3)).allSatisfy(this::assertReleasedWithoutExecution);
    assertThat(executions).hasValue(1);
  }

  @Test
  void a_task_that_arrives_after_the_drain_began_is_released() throws Exception {
    CountDownLatch task = server.holdAnswer("PollTasks");
    Worker draining = worker(this::execute).start();
    RunHandle<String> run = start();
    await().until(() -> isClaimed(run));
    CountDownLatch farewell = server.holdAnswer("Deregister");
    draining.shutdown();
    await().until(() -> !server.workers.deregistrations.isEmpty());

    task.countDown();

    await().until(() -> !isClaimed(run));
    farewell.countDown();
    assertThat(draining.awaitTermination(SOON)).isTrue();
    assertReleasedWithoutExecution(run);
    assertThat(executions).hasValue(0);
    try (Kagzi other = Kagzi.connect(server.address())) {
      other.worker().workflow(GREET, (ctx, name) -> "other " + name).start();
      assertThat(run.result(SOON)).isEqualTo("other Ada");
    }
  }

  @Test
  void a_draining_worker_is_not_connected_while_its_last_run_goes_on() throws Exception {
    Worker draining = worker(this::execute).drainTimeout(Duration.ofSeconds(20)).start();
    RunHandle<String> run = start();
    assertThat(running.await(10, TimeUnit.SECONDS)).isTrue();
    await().until(draining::isConnected);

    draining.shutdown();

    assertThat(draining.isConnected()).isFalse();
    assertThat(draining.activeCount()).isEqualTo(1);
    end.countDown();
    assertThat(draining.awaitTermination(SOON)).isTrue();
    assertThat(run.result(SOON)).isEqualTo("Ada");
  }

  /** A worker that receives more runs than it can execute at once. */
  private Worker workerOfOneSlot() {
    server.ignoreLimits();
    return worker(this::execute).typeLimit(GREET, 1).drainTimeout(Duration.ofSeconds(20)).start();
  }

  private String execute(WorkflowContext ctx, String name) throws InterruptedException {
    executions.incrementAndGet();
    running.countDown();
    end.await();
    return name;
  }

  /** Starts runs that one poll delivers together, in this order. */
  private List<RunHandle<String>> startInOnePoll(String... names) {
    return server.state.withoutClaims(
        () -> Stream.of(names).map(name -> kagzi.workflow(GREET).start(name)).toList());
  }

  private boolean isClaimed(RunHandle<?> run) {
    return server.state.with(run.runId(), r -> !r.workerId.isEmpty());
  }

  private void assertReleasedWithoutExecution(RunHandle<?> run) {
    assertThat(releasedDelaysMs(run)).containsExactly(0L);
    assertThat(blockedBy(run)).isEqualTo("null");
    assertThat(steps(run)).isEmpty();
    int attempt = server.state.with(run.runId(), r -> r.attempt);
    assertThat(attempt).isEqualTo(1);
  }
}
