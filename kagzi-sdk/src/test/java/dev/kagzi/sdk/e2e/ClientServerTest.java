package dev.kagzi.sdk.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.sdk.RunCancelledException;
import dev.kagzi.sdk.RunExistsException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunInfo;
import dev.kagzi.sdk.RunNotFoundException;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.TypeRef;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ClientServerTest extends RealServerTest {

  @Test
  void a_start_with_an_id_is_made_once_while_the_run_is_active() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) -> {
              end.await();
              return name;
            })
        .start();

    RunHandle<String> first = kagzi.workflow(type).id("once").start("first");
    RunHandle<String> second = kagzi.workflow(type).id("once").start("second");
    end.countDown();

    assertThat(second.runId()).isEqualTo(first.runId());
    assertThat(second.existed()).isTrue();
    assertThat(second.result(SOON)).isEqualTo("first");
    RunHandle<String> third = kagzi.workflow(type).id("once").start("third");
    assertThat(third.runId()).isNotEqualTo(first.runId());
    assertThat(third.result(SOON)).isEqualTo("third");
    assertThat(kagzi.getByWorkflowId("once").runId()).isEqualTo(third.runId());
  }

  @Test
  void thousands_of_runs_of_one_bulk_start_all_complete() {
    kagzi.worker().workflow(type, (ctx, name) -> name + "!").maxConcurrent(500).start();
    List<String> names = IntStream.range(0, 5_000).mapToObj(i -> "n" + i).toList();

    List<RunHandle<String>> runs = kagzi.workflow(type).startAll(names);

    for (int i = 0; i < names.size(); i++) {
      assertThat(runs.get(i).result(SOON)).isEqualTo(names.get(i) + "!");
    }
  }

  @Test
  void a_cancel_interrupts_the_running_step_at_once_and_late_results_are_ignored()
      throws Exception {
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    Worker worker =
        kagzi
            .worker()
            .workflow(
                type,
                (ctx, name) -> {
                  ctx.step(
                      "slow",
                      () -> {
                        running.countDown();
                        try {
                          new CountDownLatch(1).await();
                        } catch (InterruptedException e) {
                          interrupted.countDown();
                        }
                      });
                  return "too late";
                })
            .start();
    RunHandle<String> run = kagzi.workflow(type).start("Ada");
    assertThat(running.await(10, TimeUnit.SECONDS)).isTrue();

    assertThat(run.cancel()).isTrue();

    assertThat(interrupted.await(2, TimeUnit.SECONDS)).isTrue();
    assertThatThrownBy(() -> run.result(SOON)).isInstanceOf(RunCancelledException.class);
    await().until(() -> worker.activeCount() == 0);
    assertThat(run.cancel()).isTrue();
    assertThat(run.status()).isEqualTo(RunStatus.CANCELLED);
  }

  @Test
  void pending_and_sleeping_runs_can_be_cancelled() {
    RunHandle<String> pending = kagzi.workflow(type).start("pending");
    assertThat(pending.cancel()).isTrue();
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) -> {
              ctx.sleep("long", "1 day");
              return name;
            })
        .start();
    RunHandle<String> sleeping = kagzi.workflow(type).start("sleeping");
    await().atMost(SOON).until(() -> sleeping.status() == RunStatus.SLEEPING);

    assertThat(sleeping.cancel()).isTrue();

    assertThatThrownBy(() -> sleeping.result(SOON)).isInstanceOf(RunCancelledException.class);
    assertThat(pending.status()).isEqualTo(RunStatus.CANCELLED);
  }

  @Test
  void runs_are_found_by_id_and_listed_by_filter_page_by_page() {
    List<RunHandle<String>> runs = kagzi.workflow(type).startAll(List.of("a", "b", "c", "d", "e"));

    List<RunInfo> listed = kagzi.list().queue(queue).pageSize(2).stream().toList();
    RunInfo first = kagzi.get(runs.getFirst().runId());

    assertThat(listed)
        .extracting(RunInfo::runId)
        .containsExactlyInAnyOrderElementsOf(runs.stream().map(RunHandle::runId).toList());
    assertThat(first.queue()).isEqualTo(queue);
    assertThat(first.type()).isEqualTo("greet");
    assertThat(first.status()).isEqualTo(RunStatus.PENDING);
    assertThat(kagzi.list().queue(queue).status(RunStatus.COMPLETED).page().runs()).isEmpty();
    assertThatThrownBy(() -> kagzi.get(UUID.randomUUID().toString()))
        .isInstanceOf(RunNotFoundException.class);
    assertThatThrownBy(() -> kagzi.run(UUID.randomUUID().toString(), type).result(SOON))
        .isInstanceOf(RunNotFoundException.class);
  }

  @Test
  void one_worker_serves_several_queues_and_types() {
    WorkflowType<Integer, Integer> twice = WorkflowType.of("twice", Integer.class, Integer.class);
    Worker worker =
        kagzi
            .worker(queue + "-a", queue + "-b")
            .workflow(type, (ctx, name) -> name + " on " + ctx.queue())
            .workflow(twice, (ctx, n) -> ctx.step("double", Integer.class, () -> 2 * n))
            .start();

    assertThat(kagzi.workflow(type).queue(queue + "-a").start("x").result(SOON)).endsWith("-a");
    assertThat(kagzi.workflow(type).queue(queue + "-b").start("x").result(SOON)).endsWith("-b");
    assertThat(kagzi.workflow(twice).queue(queue + "-b").start(21).result(SOON)).isEqualTo(42);
    assertThat(worker.workerIds()).hasSize(2);
  }

  @Test
  void worker_and_type_limits_are_kept_and_all_runs_complete() {
    WorkflowType<String, String> heavy =
        WorkflowType.of("heavy", String.class, String.class).queue(queue);
    AtomicInteger now = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    AtomicInteger nowHeavy = new AtomicInteger();
    AtomicInteger mostHeavy = new AtomicInteger();
    Semaphore steps = new Semaphore(0);
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) -> {
              most.accumulateAndGet(now.incrementAndGet(), Math::max);
              steps.acquire();
              now.decrementAndGet();
              return name;
            })
        .workflow(
            heavy,
            (ctx, name) -> {
              most.accumulateAndGet(now.incrementAndGet(), Math::max);
              mostHeavy.accumulateAndGet(nowHeavy.incrementAndGet(), Math::max);
              steps.acquire();
              nowHeavy.decrementAndGet();
              now.decrementAndGet();
              return name;
            })
        .maxConcurrent(10)
        .typeLimit(heavy, 3)
        .start();
    List<String> names = IntStream.range(0, 40).mapToObj(i -> "n" + i).toList();

    List<RunHandle<String>> heavies = kagzi.workflow(heavy).startAll(names);
    await().atMost(SOON).until(() -> nowHeavy.get() == 3);
    List<RunHandle<String>> others = kagzi.workflow(type).startAll(names);
    await().atMost(SOON).until(() -> now.get() == 10);
    steps.release(1_000);

    heavies.forEach(run -> run.result(SOON));
    others.forEach(run -> run.result(SOON));
    assertThat(most).hasValue(10);
    assertThat(mostHeavy).hasValue(3);
  }

  @Test
  void a_type_at_its_limit_is_taken_again_as_soon_as_a_slot_is_free() {
    kagzi.worker().workflow(type, (ctx, name) -> name).typeLimit(type, 1).maxConcurrent(10).start();
    long begun = System.nanoTime();

    List<RunHandle<String>> runs =
        kagzi.workflow(type).startAll(IntStream.range(0, 20).mapToObj(i -> "n" + i).toList());
    runs.forEach(run -> run.result(SOON));

    assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(8));
  }

  @Test
  void a_run_is_found_by_its_id_and_type_and_knows_its_output() {
    WorkflowType<String, List<String>> many =
        WorkflowType.of("many", new TypeRef<String>() {}, new TypeRef<List<String>>() {})
            .queue(queue);
    kagzi.worker().workflow(many, (ctx, text) -> List.of(text, text)).start();
    String large = "x".repeat(5_000);
    kagzi.workflow(many).id("found").start("y").result(SOON);
    kagzi.workflow(many).id("large").start(large).result(SOON);

    RunHandle<List<String>> run = kagzi.run(many, "found");
    assertThat(run.result(SOON)).containsExactly("y", "y");
    assertThat(run.info().output(new TypeRef<List<String>>() {})).contains(List.of("y", "y"));
    assertThat(run.info()).isEqualTo(kagzi.get(run.runId()));
    assertThat(run.history().run().output(String[].class).orElseThrow()).containsExactly("y", "y");
    assertThat(kagzi.getByWorkflowId("large").output(String[].class).orElseThrow())
        .containsExactly(large, large);
    assertThat(kagzi.list().workflowId("large").page().runs().getFirst().output()).isEmpty();
    assertThat(kagzi.list().workflowId("large").payloads().page().runs().getFirst().output())
        .isPresent();
    assertThat(kagzi.workflow(type).start("nobody serves it").info().output()).isEmpty();

    assertThatThrownBy(() -> kagzi.run(many, "nowhere")).isInstanceOf(RunNotFoundException.class);
    assertThatThrownBy(() -> kagzi.run(type, "found"))
        .isInstanceOf(RunExistsException.class)
        .hasMessage(
            "id found is that of run %s of type many (expected: a run of type greet)", run.runId());
  }
}
