package dev.kagzi.sdk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.sdk.fake.FakeWorkflowService;
import io.grpc.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ClientTest extends FakeServerTest {

  @Test
  void a_start_has_a_client_chosen_run_id_and_returns_its_result() {
    worker((ctx, name) -> "Hello " + name).start();

    RunHandle<String> run = start();

    assertThat(UUID.fromString(run.runId()).version()).isEqualTo(7);
    assertThat(run.result(SOON)).isEqualTo("Hello Ada");
    assertThat(run.status()).isEqualTo(RunStatus.COMPLETED);
    assertThat(run.existed()).isFalse();
  }

  /**
   * Jackson writes the total, and a strict codec rejects it when reading: the run would be blocked.
   */
  record Priced(int cents) {
    public int getTotal() {
      return cents;
    }
  }

  @Test
  void an_input_that_its_run_would_refuse_to_read_is_not_started() {
    WorkflowType<Priced, String> type = WorkflowType.of("priced", Priced.class, String.class);
    try (Kagzi strict =
        Kagzi.builder().address(server.address()).codec(new JacksonCodec().strict()).connect()) {
      for (int i = 0; i < 2; i++) {
        assertThatThrownBy(() -> strict.workflow(type).start(new Priced(1)))
            .isInstanceOf(PayloadException.class)
            .hasMessageContaining("total");
      }
    }

    assertThat(server.workflows.starts).isEmpty();
  }

  @Test
  void starts_that_arrive_during_a_call_share_the_next_one() throws Exception {
    CountDownLatch gate = server.hold("StartWorkflows");
    List<CompletableFuture<RunHandle<String>>> runs = new ArrayList<>();
    runs.add(kagzi.workflow(GREET).startAsync("1"));
    runs.add(kagzi.workflow(GREET).startAsync("2"));
    await().until(() -> server.workflows.starts.size() == 2);
    for (int i = 0; i < 200; i++) {
      runs.add(kagzi.workflow(GREET).startAsync("more " + i));
    }

    gate.countDown();
    CompletableFuture.allOf(runs.toArray(new CompletableFuture<?>[0])).get(10, TimeUnit.SECONDS);

    assertThat(server.calls("StartWorkflows")).isLessThanOrEqualTo(4);
    assertThat(server.state.all()).hasSize(202);
  }

  @Test
  void a_start_is_sent_again_until_the_server_is_back_and_makes_one_run() throws Exception {
    server.stop();
    CompletableFuture<RunHandle<String>> run = kagzi.workflow(GREET).startAsync("Ada");

    server.start();

    run.get(10, TimeUnit.SECONDS);
    assertThat(server.state.all()).hasSize(1);
  }

  @Test
  void a_start_gives_up_after_the_call_timeout() {
    server.fail("StartWorkflows", Status.UNAVAILABLE.withDescription("away"));

    try (Kagzi hasty =
        Kagzi.builder().address(server.address()).callTimeout(Duration.ofSeconds(2)).connect()) {
      assertThatThrownBy(() -> hasty.workflow(GREET).start("Ada"))
          .isInstanceOf(ServerUnavailableException.class)
          .hasMessageContaining("away");
    }
  }

  @Test
  void callbacks_of_starts_and_results_that_fail_have_virtual_threads() {
    RunHandle<String> open = start();
    server.fail("StartWorkflows", Status.UNAVAILABLE);
    CompletableFuture<Boolean> start;
    CompletableFuture<Boolean> result;

    try (Kagzi hasty =
        Kagzi.builder().address(server.address()).callTimeout(Duration.ofSeconds(1)).connect()) {
      start = hasty.workflow(GREET).startAsync("Ada").handle(ClientTest::failedOnVirtualThread);
      result =
          hasty.run(open.runId(), GREET).resultAsync().handle(ClientTest::failedOnVirtualThread);
      assertThat(start).succeedsWithin(SOON).isEqualTo(true);
    }

    assertThat(result).succeedsWithin(SOON).isEqualTo(true);
  }

  private static boolean failedOnVirtualThread(@Nullable Object value, @Nullable Throwable error) {
    return error != null && Thread.currentThread().isVirtual();
  }

  @Test
  void a_start_whose_calls_pass_their_deadline_is_sent_again() {
    server.fail("StartWorkflows", Status.DEADLINE_EXCEEDED);
    CompletableFuture<RunHandle<String>> run = kagzi.workflow(GREET).startAsync("Ada");
    await().until(() -> server.calls("StartWorkflows") > 1);

    server.heal("StartWorkflows");

    assertThat(run).succeedsWithin(SOON);
    assertThat(server.state.all()).hasSize(1);
  }

  @Test
  void a_start_whose_calls_all_pass_their_deadline_has_no_answer_within_the_call_timeout() {
    server.fail("StartWorkflows", Status.DEADLINE_EXCEEDED);

    try (Kagzi hasty =
        Kagzi.builder().address(server.address()).callTimeout(Duration.ofSeconds(1)).connect()) {
      assertThatThrownBy(() -> hasty.workflow(GREET).start("Ada"))
          .isInstanceOf(ServerUnavailableException.class)
          .hasMessageContaining("start at " + server.address() + ": no answer within 1000 ms");
    }
  }

  @Test
  void a_start_that_nobody_answers_names_the_address_and_why() {
    try (Kagzi lost =
        Kagzi.builder().address("localhost:1").callTimeout(Duration.ofSeconds(2)).connect()) {
      assertThatThrownBy(() -> lost.workflow(GREET).start("Ada"))
          .isInstanceOf(ServerUnavailableException.class)
          .hasMessageContaining("start at localhost:1")
          .hasMessageContaining("no server answers: Connection refused")
          .hasMessageEndingWith(" (expected: a server there, such as that of ./kagzi dev)");
    }
  }

  @Test
  void a_refused_start_throws_the_servers_reason() {
    WorkflowType<String, String> refused =
        WorkflowType.of(FakeWorkflowService.REFUSED_TYPE, String.class, String.class);

    assertThatThrownBy(() -> kagzi.workflow(refused).start("Ada"))
        .isInstanceOfSatisfying(
            RequestRefusedException.class, e -> assertThat(e.code()).isEqualTo("INVALID_ARGUMENT"))
        .hasMessageContaining("no such thing");
  }

  @Test
  void an_id_that_is_active_returns_the_same_run() {
    RunHandle<String> first = kagzi.workflow(GREET).id("one").start("Ada");

    RunHandle<String> second = kagzi.workflow(GREET).id("one").start("Ada");

    assertThat(second.runId()).isEqualTo(first.runId());
    assertThat(second.existed()).isTrue();
  }

  @Test
  void an_id_that_is_active_can_be_refused_with_the_run_that_has_it() {
    RunHandle<String> first = kagzi.workflow(GREET).id("one").start("Ada");

    assertThatThrownBy(
            () -> kagzi.workflow(GREET).id("one").ifExists(IdConflict.REJECT).start("Ada"))
        .isInstanceOfSatisfying(
            RunExistsException.class,
            e -> {
              assertThat(e.workflowId()).isEqualTo("one");
              assertThat(e.existingRunId()).contains(first.runId());
            })
        .hasMessageContaining("in use");
  }

  @Test
  void an_id_can_return_a_finished_run_too() {
    RunHandle<String> first = kagzi.workflow(GREET).id("one").start("Ada");
    first.cancel();

    RunHandle<String> second =
        kagzi.workflow(GREET).id("one").ifExists(IdConflict.USE_EXISTING_ANY).start("Ada");
    RunHandle<String> third =
        kagzi.workflow(GREET).id("one").ifExists(IdConflict.USE_EXISTING).start("Ada");

    assertThat(second.runId()).isEqualTo(first.runId());
    assertThat(second.existed()).isTrue();
    assertThat(third.existed()).isFalse();
    assertThatThrownBy(() -> kagzi.workflow(GREET).ifExists(IdConflict.REJECT).start("Ada"))
        .hasMessageContaining("expected: id(..)");
  }

  @Test
  void a_bulk_start_keeps_the_order_and_needs_few_calls() {
    List<String> names = IntStream.range(0, 1_200).mapToObj(i -> "name-" + i).toList();
    worker((ctx, name) -> "Hello " + name).start();

    List<RunHandle<String>> runs = kagzi.workflow(GREET).startAll(names);

    assertThat(runs).hasSize(1_200);
    assertThat(runs.get(777).result(SOON)).isEqualTo("Hello name-777");
    assertThat(server.calls("StartWorkflows")).isLessThan(60);
  }

  @Test
  void a_bulk_start_with_one_id_for_all_is_refused() {
    assertThatThrownBy(() -> kagzi.workflow(GREET).id("x").startAll(List.of("a", "b")))
        .hasMessageContaining("one id each");
  }

  @Test
  void a_wait_survives_a_broken_connection() throws Exception {
    RunHandle<String> run = start();
    CompletableFuture<String> result = run.resultAsync();
    await().until(() -> server.calls("WatchWorkflows") == 1);

    server.stop();
    server.start();
    worker((ctx, name) -> "late").start();

    assertThat(result.get(10, TimeUnit.SECONDS)).isEqualTo("late");
    assertThat(server.calls("WatchWorkflows")).isGreaterThanOrEqualTo(2);
  }

  @Test
  void a_wait_with_a_limit_ends_and_can_be_repeated() {
    RunHandle<String> run = start();

    assertThatThrownBy(() -> run.result(Duration.ofMillis(50)))
        .isInstanceOf(ResultTimeoutException.class)
        .hasMessageContaining(run.runId());

    worker((ctx, name) -> "late").start();
    assertThat(run.result(SOON)).isEqualTo("late");
  }

  @Test
  void many_waits_cost_one_stream() {
    worker((ctx, name) -> name).maxConcurrent(500).start();
    List<RunHandle<String>> runs =
        kagzi.workflow(GREET).startAll(IntStream.range(0, 500).mapToObj(i -> "n" + i).toList());

    runs.forEach(run -> run.result(SOON));

    assertThat(server.calls("WatchWorkflows")).isEqualTo(1);
    assertThat(server.calls("GetWorkflow")).isZero();
  }

  @Test
  void a_run_that_does_not_exist_is_not_found() {
    RunHandle<String> run = kagzi.run(UUID.randomUUID().toString(), GREET);

    assertThatThrownBy(() -> run.result(SOON)).isInstanceOf(RunNotFoundException.class);
    assertThatThrownBy(run::status).isInstanceOf(RunNotFoundException.class);
  }

  @Test
  void a_cancelled_run_has_no_result() {
    RunHandle<String> run = start();

    assertThat(run.cancel()).isTrue();
    assertThat(run.cancel()).isTrue();

    assertThatThrownBy(() -> run.result(SOON)).isInstanceOf(RunCancelledException.class);
  }

  @Test
  void a_terminated_run_has_failed_for_the_reason_given() {
    RunHandle<String> run = start();

    assertThat(run.terminate("wrong customer")).isTrue();
    assertThat(run.terminate("again")).isFalse();

    assertThatThrownBy(() -> run.result(SOON))
        .isInstanceOf(RunFailedException.class)
        .hasMessageContaining("wrong customer");
  }

  @Test
  void a_retry_is_a_new_run_or_the_one_that_is_active() {
    RunHandle<String> run = start();
    RunHandle<String> same = run.retry();
    run.cancel();

    RunHandle<String> again = run.retry();

    assertThat(same.runId()).isEqualTo(run.runId());
    assertThat(same.existed()).isTrue();
    assertThat(again.runId()).isNotEqualTo(run.runId());
    assertThat(again.existed()).isFalse();
    worker((ctx, name) -> "Hello " + name).start();
    assertThat(again.result(SOON)).isEqualTo("Hello Ada");
  }

  @Test
  void a_failed_run_can_be_resumed_once_it_is_repaired() {
    AtomicBoolean repaired = new AtomicBoolean();
    worker(
            (ctx, name) ->
                ctx.step(
                    "charge",
                    String.class,
                    () -> {
                      if (!repaired.get()) {
                        throw new NonRetryableException("no");
                      }
                      return "charged";
                    }))
        .start();
    RunHandle<String> run = start();
    assertThatThrownBy(() -> run.result(SOON)).isInstanceOf(RunFailedException.class);
    repaired.set(true);

    assertThat(run.resume()).isTrue();

    assertThat(run.result(SOON)).isEqualTo("charged");
    assertThat(run.resume()).isFalse();
  }

  @Test
  void operations_on_a_run_are_sent_again_while_no_server_answers() throws Exception {
    RunHandle<String> run = start();
    run.cancel();
    server.fail("RetryWorkflow", Status.UNAVAILABLE);
    server.fail("TerminateWorkflow", Status.UNAVAILABLE);
    server.fail("ResumeWorkflow", Status.UNAVAILABLE);
    List<CompletableFuture<?>> calls =
        List.of(
            CompletableFuture.supplyAsync(run::retry),
            CompletableFuture.supplyAsync(() -> run.terminate("x")),
            CompletableFuture.supplyAsync(run::resume));
    for (String method : List.of("RetryWorkflow", "TerminateWorkflow", "ResumeWorkflow")) {
      await().until(() -> server.calls(method) > 1);
      server.heal(method);
    }

    for (CompletableFuture<?> call : calls) {
      call.get(10, TimeUnit.SECONDS);
    }

    assertThat(server.state.all()).hasSize(2);
    assertThatThrownBy(() -> kagzi.run(UUID.randomUUID().toString(), GREET).retry())
        .isInstanceOf(RunNotFoundException.class);
  }

  @Test
  void a_failed_run_carries_the_error_of_its_code() {
    worker(
            (ctx, name) -> {
              throw new IllegalStateException("no luck");
            })
        .start();

    assertThatThrownBy(() -> start().result(SOON))
        .isInstanceOfSatisfying(
            RunFailedException.class,
            e -> {
              assertThat(e.status()).isEqualTo(RunStatus.FAILED);
              assertThat(e.failure().type()).isEqualTo("java.lang.IllegalStateException");
              assertThat(e.failure().message()).isEqualTo("no luck");
            });
  }

  @Test
  void a_list_is_walked_page_by_page() {
    kagzi.workflow(GREET).startAll(List.of("a", "b", "c", "d", "e"));

    RunPage page = kagzi.list().pageSize(2).totalCount().page();
    List<RunInfo> all = kagzi.list().pageSize(2).stream().toList();

    assertThat(page.runs()).hasSize(2);
    assertThat(page.nextPageToken()).isPresent();
    assertThat(page.totalCount()).contains(5L);
    assertThat(all).hasSize(5).doesNotHaveDuplicates();
  }

  @Test
  void the_queue_is_the_starts_else_the_types_else_default() {
    WorkflowType<String, String> orders = GREET.queue("orders");

    kagzi.workflow(GREET).id("a").start("Ada");
    kagzi.workflow(orders).id("b").start("Ada");
    kagzi.workflow(orders).id("c").queue("express").start("Ada");

    assertThat(server.state.all().stream().map(run -> run.start.getTaskQueue()))
        .containsExactly("default", "orders", "express");
  }

  @Test
  void an_interrupted_wait_throws_and_sets_the_interrupt_flag_again() {
    RunHandle<String> run = start();
    Thread.currentThread().interrupt();

    assertThatThrownBy(run::result).isInstanceOf(WaitInterruptedException.class);

    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void of_several_servers_one_that_is_down_does_not_matter() {
    try (Kagzi two = Kagzi.connect("127.0.0.1:1, " + server.address())) {
      assertThat(two.workflow(GREET).start("Ada").runId()).isNotEmpty();
    }
    assertThatThrownBy(() -> Kagzi.connect("localhost")).hasMessageContaining("localhost:50051");
    assertThatThrownBy(() -> Kagzi.connect("http://localhost:50051"))
        .hasMessageContaining("without a scheme");
  }

  @Test
  void a_handle_needs_a_run_id_and_its_error_names_the_lookup_by_id() {
    assertThatThrownBy(() -> kagzi.run("order-42", GREET))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("runId: order-42 (expected: a UUID; run(type, id) finds the run with this id)");
  }
}
