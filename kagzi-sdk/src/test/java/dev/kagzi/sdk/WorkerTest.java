package dev.kagzi.sdk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.protocol.v1.DeregisterRequest;
import dev.kagzi.protocol.v1.RegisterRequest;
import dev.kagzi.protocol.v1.WorkflowStatus;
import io.grpc.Status;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class WorkerTest extends FakeServerTest {

  @Test
  void a_worker_registers_with_its_identity_and_workflows() throws Exception {
    Worker worker =
        kagzi
            .worker("orders")
            .workflow(GREET.version("2"), (ctx, name) -> name)
            .maxConcurrent(7)
            .typeLimit(GREET, 3)
            .label("region", "eu")
            .version("1.4.2")
            .hostname("box")
            .start();

    assertThat(worker.awaitRegistered(SOON)).isTrue();

    RegisterRequest request = server.workers.registrations.getFirst();
    assertThat(request.getTaskQueue()).isEqualTo("orders");
    assertThat(request.getServed(0).getVersion()).isEqualTo("2");
    assertThat(request.getWorkflowTypesList()).containsExactly("greet");
    assertThat(request.getQueueConcurrencyLimit()).isEqualTo(7);
    assertThat(request.getWorkflowTypeConcurrency(0).getMaxConcurrent()).isEqualTo(3);
    assertThat(request.getLabelsMap()).containsEntry("region", "eu");
    assertThat(request.getVersion()).isEqualTo("1.4.2");
    assertThat(request.getHostname()).isEqualTo("box");
    assertThat(request.getPid()).isPositive();
    assertThat(request.getInstanceId()).isNotEmpty();
    assertThat(worker.workerId()).isEqualTo("worker-1");
    await().until(() -> server.workers.isAttached("worker-1"));
  }

  @Test
  void heartbeats_list_the_claims_that_are_executed() {
    CountDownLatch end = new CountDownLatch(1);
    worker(
            (ctx, name) -> {
              end.await();
              return name;
            })
        .start();
    RunHandle<String> run = start();

    await()
        .atMost(SOON)
        .until(
            () ->
                server.workers.heartbeats.stream()
                    .anyMatch(
                        beat ->
                            beat.getActiveCount() == 1
                                && beat.getClaims(0).getRunId().equals(run.runId())
                                && beat.getClaims(0).getEpoch() == 1));
    end.countDown();

    await()
        .atMost(SOON)
        .until(
            () ->
                server.workers.heartbeats.getLast().getClaimsCount() == 0
                    && server.workers.heartbeats.getLast().getTotalCompleted() == 1);
  }

  @Test
  void a_cancel_interrupts_the_running_step() throws Exception {
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    Worker worker =
        worker(
                (ctx, name) -> {
                  ctx.step("slow", () -> blockUntilInterrupted(running, interrupted));
                  return name;
                })
            .start();
    RunHandle<String> run = start();
    assertThat(running.await(10, TimeUnit.SECONDS)).isTrue();

    run.cancel();

    assertThat(interrupted.await(10, TimeUnit.SECONDS)).isTrue();
    await().until(() -> worker.activeCount() == 0);
    assertThat(run.status()).isEqualTo(RunStatus.CANCELLED);
  }

  @Test
  void a_claim_that_the_heartbeat_reports_lost_is_stopped() throws Exception {
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    worker(
            (ctx, name) -> {
              if (running.getCount() > 0) {
                ctx.step("slow", () -> blockUntilInterrupted(running, interrupted));
              }
              return "second claim";
            })
        .start();
    RunHandle<String> run = start();
    assertThat(running.await(10, TimeUnit.SECONDS)).isTrue();

    server.state.with(
        run.runId(),
        r -> {
          r.workerId = "";
          r.status = WorkflowStatus.WORKFLOW_STATUS_PENDING;
          return true;
        });

    assertThat(interrupted.await(10, TimeUnit.SECONDS)).isTrue();
    assertThat(run.result(SOON)).isEqualTo("second claim");
  }

  @Test
  void a_claim_that_another_worker_has_is_stopped_by_the_answer_to_a_heartbeat() throws Exception {
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    worker(
            (ctx, name) -> {
              ctx.step("slow", () -> blockUntilInterrupted(running, interrupted));
              return name;
            })
        .start();
    RunHandle<String> run = start();
    // The code reports nothing more, so only a heartbeat can discover the loss.
    await().until(() -> server.state.with(run.runId(), r -> r.startedSteps.contains("slow")));

    server.state.with(
        run.runId(),
        r -> {
          r.workerId = "another";
          return r.epoch++;
        });

    assertThat(interrupted.await(10, TimeUnit.SECONDS)).isTrue();
  }

  /** The scheduler of virtual threads does not preempt CPU-bound code. */
  @Test
  void heartbeats_continue_while_cpu_bound_runs_hold_every_carrier_thread() {
    int cores = Runtime.getRuntime().availableProcessors();
    AtomicInteger computing = new AtomicInteger();
    AtomicBoolean end = new AtomicBoolean();
    worker(
            (ctx, name) -> {
              computing.incrementAndGet();
              while (!end.get()) {
                Thread.onSpinWait();
              }
              return Thread.currentThread().isVirtual() ? "virtual" : "platform";
            })
        .maxConcurrent(cores)
        .start();
    List<RunHandle<String>> runs = IntStream.range(0, cores).mapToObj(i -> start()).toList();
    try {
      await().atMost(SOON).until(() -> computing.get() == cores);
      int beats = server.workers.heartbeats.size();

      await().atMost(SOON).until(() -> server.workers.heartbeats.size() >= beats + 2);
    } finally {
      end.set(true);
    }
    assertThat(runs).allSatisfy(run -> assertThat(run.result(SOON)).isEqualTo("virtual"));
  }

  @Test
  void a_worker_unknown_to_the_server_registers_again_and_continues() throws Exception {
    Worker worker = worker((ctx, name) -> "Hello " + name).start();
    assertThat(worker.awaitRegistered(SOON)).isTrue();

    server.workers.forgetWorkers();
    RunHandle<String> run = start();

    assertThat(run.result(SOON)).isEqualTo("Hello Ada");
    assertThat(worker.workerId()).isNotEqualTo("worker-1");
  }

  @Test
  void a_run_survives_a_restart_of_the_server() throws Exception {
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    AtomicInteger executions = new AtomicInteger();
    Worker worker =
        worker(
                (ctx, name) -> {
                  ctx.step(
                      "one",
                      () -> {
                        executions.incrementAndGet();
                        running.countDown();
                        end.await();
                      });
                  ctx.step("two", () -> executions.incrementAndGet());
                  return "through";
                })
            .start();
    RunHandle<String> run = start();
    assertThat(running.await(10, TimeUnit.SECONDS)).isTrue();

    server.stop();
    end.countDown();
    server.start();

    assertThat(run.result(SOON)).isEqualTo("through");
    assertThat(executions).hasValue(2);
    await().atMost(SOON).until(() -> server.workers.isAttached(worker.workerId()));
  }

  @Test
  void reports_that_fail_with_a_transient_error_are_sent_again() {
    server.fail("Report", Status.RESOURCE_EXHAUSTED);
    worker(
            (ctx, name) -> {
              ctx.step("one", () -> {});
              return "through";
            })
        .start();
    RunHandle<String> run = start();
    await().until(() -> server.calls("Report") >= 2);
    server.fail("Report", Status.UNAUTHENTICATED);
    int before = server.calls("Report");
    await().until(() -> server.calls("Report") > before);

    server.heal("Report");

    assertThat(run.result(SOON)).isEqualTo("through");
  }

  @Test
  void reports_queued_during_a_call_share_the_next_one() throws Exception {
    CountDownLatch gate = server.hold("Report");
    worker((ctx, name) -> name).maxConcurrent(300).start();
    List<RunHandle<String>> runs =
        kagzi.workflow(GREET).startAll(IntStream.range(0, 300).mapToObj(i -> "n" + i).toList());
    await().until(() -> server.calls("Report") == 2);
    await().until(() -> server.state.all().stream().allMatch(run -> run.epoch == 1));

    gate.countDown();
    runs.forEach(run -> run.result(SOON));

    assertThat(server.calls("Report")).isLessThan(100);
  }

  @Test
  void a_late_task_with_an_older_epoch_does_not_affect_the_current_claim() throws Exception {
    AtomicInteger executions = new AtomicInteger();
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch gate = new CountDownLatch(1);
    worker(
            (ctx, name) -> {
              executions.incrementAndGet();
              begun.countDown();
              gate.await();
              return name;
            })
        .start();
    RunHandle<String> run = start();
    begun.await();
    int polls = server.calls("PollTasks");

    server.state.with(
        run.runId(),
        fake -> {
          fake.workerId = "";
          fake.epoch = -1;
          return fake;
        });
    await().until(() -> server.calls("PollTasks") > polls);
    server.state.with(
        run.runId(),
        fake -> {
          fake.epoch = 1;
          return fake;
        });
    gate.countDown();

    assertThat(run.result(SOON)).isNotNull();
    assertThat(executions).hasValue(1);
  }

  @Test
  void no_more_runs_than_slots_are_executed_at_once() {
    AtomicInteger now = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    Semaphore steps = new Semaphore(0);
    worker(
            (ctx, name) -> {
              most.accumulateAndGet(now.incrementAndGet(), Math::max);
              steps.acquire();
              now.decrementAndGet();
              return name;
            })
        .maxConcurrent(5)
        .start();
    List<RunHandle<String>> runs =
        kagzi.workflow(GREET).startAll(IntStream.range(0, 30).mapToObj(i -> "n" + i).toList());
    await().until(() -> now.get() == 5);

    steps.release(30);
    runs.forEach(run -> run.result(SOON));

    assertThat(most).hasValue(5);
    assertThat(server.workers.polls.getFirst().getMaxTasks()).isEqualTo(5);
  }

  @Test
  void a_type_limit_limits_only_its_type() {
    WorkflowType<String, String> heavy = WorkflowType.of("heavy", String.class, String.class);
    AtomicInteger now = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    Semaphore steps = new Semaphore(0);
    worker((ctx, name) -> name)
        .workflow(
            heavy,
            (ctx, name) -> {
              most.accumulateAndGet(now.incrementAndGet(), Math::max);
              steps.acquire();
              now.decrementAndGet();
              return name;
            })
        .typeLimit(heavy, 2)
        .maxConcurrent(10)
        .start();
    List<RunHandle<String>> runs = kagzi.workflow(heavy).startAll(List.of("a", "b", "c", "d"));
    await().until(() -> now.get() == 2);

    assertThat(start().result(SOON)).isEqualTo("Ada");
    steps.release(4);
    runs.forEach(run -> run.result(SOON));

    assertThat(most).hasValue(2);
  }

  @Test
  void a_worker_of_several_queues_serves_each_of_them_with_its_own_registration() throws Exception {
    Worker worker = kagzi.worker("a", "b").workflow(GREET, (ctx, name) -> ctx.queue()).start();

    assertThat(kagzi.workflow(GREET).queue("a").start("x").result(SOON)).isEqualTo("a");
    assertThat(kagzi.workflow(GREET).queue("b").start("x").result(SOON)).isEqualTo("b");
    assertThat(worker.workerIds()).hasSize(2).doesNotHaveDuplicates();
  }

  @Test
  void a_worker_without_queues_serves_those_of_its_types() {
    kagzi.worker().workflow(GREET.queue("hello"), (ctx, name) -> ctx.queue()).start();

    assertThat(kagzi.workflow(GREET.queue("hello")).start("x").result(SOON)).isEqualTo("hello");
  }

  @Test
  void a_drain_finishes_running_runs_with_heartbeats_and_takes_no_new_ones() throws Exception {
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    Worker worker =
        worker(
                (ctx, name) -> {
                  running.countDown();
                  end.await();
                  return "finished";
                })
            .start();
    RunHandle<String> run = start();
    assertThat(running.await(10, TimeUnit.SECONDS)).isTrue();

    worker.shutdown();
    await().until(() -> !server.workers.deregistrations.isEmpty());
    RunHandle<String> late = start();
    int beats = server.workers.heartbeats.size();
    await().atMost(SOON).until(() -> server.workers.heartbeats.size() > beats);
    assertThat(server.workers.heartbeats.getLast().getClaimsCount()).isEqualTo(1);
    end.countDown();

    assertThat(worker.awaitTermination(SOON)).isTrue();
    assertThat(run.status()).isEqualTo(RunStatus.COMPLETED);
    assertThat(late.status()).isEqualTo(RunStatus.PENDING);
    assertThat(server.workers.deregistrations)
        .extracting(DeregisterRequest::getDrain)
        .containsExactly(true, false);
  }

  @Test
  void runs_left_at_the_drain_timeout_are_interrupted_and_released() throws Exception {
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    Worker worker =
        worker(
                (ctx, name) -> {
                  ctx.step("done", () -> {});
                  ctx.step("slow", () -> blockUntilInterrupted(running, interrupted));
                  return name;
                })
            .drainTimeout(Duration.ofMillis(100))
            .start();
    RunHandle<String> run = start();
    assertThat(running.await(10, TimeUnit.SECONDS)).isTrue();

    worker.close();

    assertThat(interrupted.getCount()).isZero();
    assertThat(releasedDelaysMs(run)).containsExactly(0L);
    assertThat(steps(run)).containsExactly("done");
    assertThat(run.status()).isEqualTo(RunStatus.PENDING);
  }

  @Test
  void a_worker_needs_a_workflow_and_each_type_once() {
    assertThatThrownBy(() -> kagzi.worker("q").start()).hasMessageContaining("at least one");
    assertThatThrownBy(
            () ->
                kagzi
                    .worker("q")
                    .workflow(GREET, (ctx, name) -> name)
                    .workflow(GREET, (ctx, name) -> name))
        .hasMessageContaining("registered once");
    assertThatThrownBy(() -> kagzi.worker("q").maxConcurrent(0)).hasMessageContaining("0");
  }

  @Test
  void a_worker_waits_for_a_server_that_is_not_running_yet() throws Exception {
    server.stop();
    Worker worker = worker((ctx, name) -> name).start();
    assertThat(worker.isRegistered()).isFalse();

    server.start();

    assertThat(worker.awaitRegistered(SOON)).isTrue();
    assertThat(start().result(SOON)).isEqualTo("Ada");
  }

  private static void blockUntilInterrupted(CountDownLatch running, CountDownLatch interrupted)
      throws InterruptedException {
    running.countDown();
    try {
      new CountDownLatch(1).await();
    } catch (InterruptedException e) {
      interrupted.countDown();
      throw e;
    }
  }
}
