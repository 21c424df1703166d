package dev.kagzi.sdk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.StepKind;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Branches and children with a slow server, or with code that misuses contexts and handles. */
class CompositionTest extends FakeServerTest {
  private static final WorkflowType<String, String> CHILD =
      WorkflowType.of("child", String.class, String.class);

  private final List<String> log = new CopyOnWriteArrayList<>();

  private Stream<ReportItem> reported(Predicate<ReportItem> which) {
    return server.workers.reports.stream()
        .flatMap(report -> report.getItemsList().stream())
        .filter(which);
  }

  private RunHandle<String> startWithRecorded(RecordedStep... steps) {
    return server.state.withoutClaims(
        () -> {
          RunHandle<String> run = start();
          for (RecordedStep step : steps) {
            server.state.with(run.runId(), r -> r.steps.put(step.getStepKey(), step));
          }
          return run;
        });
  }

  /**
   * All branches wait and the suspension is being reported; one of them becomes due before the
   * answer.
   */
  @Test
  void a_due_branch_does_not_continue_while_the_suspension_of_its_run_is_reported() {
    CompletableFuture<Thread> sleeper = new CompletableFuture<>();
    CountDownLatch last = new CountDownLatch(1);
    worker(
            (ctx, name) ->
                ctx.parallel(
                        "both",
                        Branch.of(
                            "sleeps",
                            b -> {
                              sleeper.complete(Thread.currentThread());
                              b.sleep("nap", Duration.ofSeconds(2));
                              return "slept";
                            }),
                        Branch.of(
                            "works",
                            b -> {
                              last.await();
                              return "worked";
                            }))
                    .first())
        .start();
    RunHandle<String> run = start();
    await().until(() -> steps(run).contains("both[sleeps]/nap"));
    CountDownLatch reports = server.hold("Report");

    last.countDown();

    await()
        .atMost(SOON)
        .during(Duration.ofMillis(300))
        .until(() -> sleeper.join().getState() == Thread.State.WAITING);
    reports.countDown();
    assertThat(run.result(SOON)).isEqualTo("slept");
  }

  /** The rest of a sleep is computed when its record is read. */
  @Test
  void a_sleep_is_not_shortened_by_the_time_that_fetching_its_record_took() {
    RecordedStep.Builder nap =
        RecordedStep.newBuilder().setKind(StepKind.STEP_KIND_SLEEP).setSleepsMs(600);
    server.keepHistoryApart();
    CountDownLatch history = server.hold("GetHistory");
    worker(
            (ctx, name) ->
                String.join(
                    "",
                    ctx.parallel(
                        "both",
                        List.of("a", "b"),
                        (branch, item) -> {
                          branch.sleep("nap", Duration.ofMillis(600));
                          return item;
                        })))
        .start();
    RunHandle<String> run =
        startWithRecorded(
            nap.setStepKey("both[0]/nap").build(), nap.setStepKey("both[1]/nap").build());
    await().pollDelay(Duration.ofMillis(700)).until(() -> server.calls("GetHistory") == 1);

    long begunNanos = System.nanoTime();
    history.countDown();

    assertThat(run.result(SOON)).isEqualTo("ab");
    assertThat(System.nanoTime() - begunNanos).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(600));
  }

  @Test
  void a_wait_for_all_children_beside_a_sleep_is_reported_for_all_of_them() {
    worker(
            (ctx, name) ->
                ctx.parallel(
                        "both",
                        Branch.of(
                            "children",
                            b -> {
                              ChildHandle<String> one = b.child(CHILD).start("one", "1");
                              ChildHandle<String> two = b.child(CHILD).start("two", "2");
                              return b.results(List.of(one, two)).size();
                            }),
                        Branch.of(
                            "sleeps",
                            b -> {
                              b.sleep("nap", "1h");
                              return 1;
                            }))
                    .toString())
        .start();
    start();

    await().until(() -> reported(CompositionTest::isPark).count() == 1);
    ReportItem.Awaited park =
        reported(CompositionTest::isPark).map(ReportItem::getAwaited).findFirst().orElseThrow();
    assertThat(park.getStepKeysList()).containsExactly("both[children]/one", "both[children]/two");
    assertThat(park.getAll()).isTrue();
    assertThat(park.hasDurationMs()).isTrue();
  }

  private static boolean isPark(ReportItem item) {
    return item.hasAwaited() && !item.getAwaited().getKeepClaim();
  }

  @Test
  void a_branch_may_ask_for_the_id_of_a_child_that_another_is_starting() {
    CompletableFuture<ChildHandle<String>> started = new CompletableFuture<>();
    CompletableFuture<Thread> asks = new CompletableFuture<>();
    CountDownLatch begin = new CountDownLatch(1);
    worker(
            (ctx, name) ->
                ctx.parallel(
                        "both",
                        Branch.of(
                            "starts",
                            b -> {
                              begin.await();
                              started.complete(b.child(CHILD).start("one", "1"));
                              return "";
                            }),
                        Branch.of(
                            "asks",
                            b -> {
                              ChildHandle<String> child = started.get();
                              asks.complete(Thread.currentThread());
                              return child.runId();
                            }))
                    .second())
        .start();
    RunHandle<String> run = start();
    await().until(() -> epoch(run) == 1);
    CountDownLatch reports = server.hold("Report");
    begin.countDown();
    await().until(() -> asks.isDone() && asks.join().getState() == Thread.State.WAITING);

    reports.countDown();

    assertThat(run.result(SOON)).isEqualTo(run.runId() + " both[starts]/one");
  }

  @Test
  void children_of_another_run_are_not_waited_for() {
    AtomicReference<@Nullable ChildHandle<String>> kept = new AtomicReference<>();
    worker(
            (ctx, name) -> {
              ChildHandle<String> others = kept.get();
              if (others == null) {
                kept.set(ctx.child(CHILD).start("one", "1"));
                return "started";
              }
              try {
                return "" + ctx.results(List.of(others));
              } catch (ContextMisuseException e) {
                return e.code() + ": " + e.getMessage();
              }
            })
        .start();
    start().result(SOON);

    assertThat(start().result(SOON))
        .startsWith("CONTEXT_OTHER_RUN")
        .contains("child one was started by another run");
  }

  @Test
  void a_child_that_cannot_be_started_is_named_in_the_error() {
    worker((ctx, name) -> ctx.child(CHILD).run("big", "x".repeat(3 << 20))).start();

    assertThatThrownBy(() -> start().result(SOON))
        .isInstanceOf(RunFailedException.class)
        .hasMessageContaining("child big: input: too large");
  }

  @Test
  void a_race_without_branches_is_refused() {
    worker(
            (ctx, name) -> {
              try {
                return ctx.<String>race("none", List.of());
              } catch (InvalidArgumentException e) {
                return e.code();
              }
            })
        .start();

    assertThat(start().result(SOON)).isEqualTo("NO_BRANCH");
  }

  /** Steps may be removed from the code of a run; later steps are still new. */
  @Test
  void a_replay_ends_at_the_first_new_step_even_if_a_recorded_step_was_removed_from_the_code() {
    worker(
            (ctx, name) -> {
              log.add("begins " + ctx.isReplaying());
              ctx.parallel(
                  "both",
                  List.of("a", "b"),
                  (branch, item) -> branch.step("new", String.class, () -> item));
              log.add("goes on " + ctx.isReplaying());
              return name;
            })
        .start();

    startWithRecorded(
            RecordedStep.newBuilder()
                .setStepKey("gone")
                .setAttempt(1)
                .setKind(StepKind.STEP_KIND_FUNCTION)
                .setOutput(dev.kagzi.protocol.v1.Payload.getDefaultInstance())
                .build())
        .result(SOON);

    assertThat(log).containsExactly("begins true", "goes on false");
  }

  /** The step is still reported as started, and it is still retried. */
  @Test
  void progress_that_is_too_large_prevents_neither_the_started_report_nor_the_next_attempt() {
    worker(
            (ctx, name) ->
                ctx.step("copy")
                    .retry(Retry.fixed(2, Duration.ofMillis(10)))
                    .execute(
                        String.class,
                        step -> {
                          if (step.attempt() == 2) {
                            return "again from " + step.lastProgress(String.class).isPresent();
                          }
                          step.heartbeat("x".repeat(3 << 20));
                          await().atMost(SOON).until(() -> isStarted(ctx.runId(), "copy"));
                          throw new IllegalStateException("cut off");
                        }))
        .start();

    assertThat(start().result(SOON)).isEqualTo("again from false");
  }

  private boolean isStarted(String run, String step) {
    return server.state.with(run, r -> r.startedSteps.contains(step));
  }

  @Test
  void a_failure_whose_progress_is_too_large_is_recorded_without_it() {
    worker(
            (ctx, name) ->
                ctx.step("copy")
                    .retry(Retry.fixed(2, Duration.ofMillis(10)))
                    .execute(
                        String.class,
                        step -> {
                          if (step.attempt() == 2) {
                            return "again";
                          }
                          step.heartbeat("x".repeat(3 << 20));
                          throw new IllegalStateException("at once");
                        }))
        .start();

    assertThat(start().result(SOON)).isEqualTo("again");
  }

  @Test
  void the_input_of_a_step_goes_with_its_first_started_report_only() {
    worker(
            (ctx, name) ->
                ctx.step("copy")
                    .input("large")
                    .execute(
                        String.class,
                        step -> {
                          await()
                              .atMost(SOON)
                              .until(
                                  () -> {
                                    step.heartbeat(1);
                                    return reported(ReportItem::hasStepStarted).count() >= 2;
                                  });
                          return "copied";
                        }))
        .start();

    assertThat(start().result(SOON)).isEqualTo("copied");
    assertThat(
            reported(ReportItem::hasStepStarted)
                .map(item -> item.getStepStarted().hasInput())
                .limit(2))
        .containsExactly(true, false);
  }

  @Test
  void interceptors_intercept_the_code_of_each_branch() {
    ThreadLocal<String> carried = new ThreadLocal<>();
    WorkerInterceptor carries =
        new WorkerInterceptor() {
          @Override
          public @Nullable Object branch(WorkflowContext ctx, Callable<@Nullable Object> next)
              throws Exception {
            carried.set("carried");
            return next.call();
          }
        };
    worker(
            (ctx, name) ->
                String.join(
                    " ",
                    ctx.parallel("each", List.of(1, 2), (branch, item) -> carried.get() + item)))
        .interceptor(carries)
        .start();

    assertThat(start().result(SOON)).isEqualTo("carried1 carried2");
  }

  @Test
  void step_code_and_interceptors_see_the_run_the_type_and_the_plain_step_name() {
    List<String> seen = new CopyOnWriteArrayList<>();
    WorkerInterceptor sees =
        new WorkerInterceptor() {
          @Override
          public @Nullable Object step(StepContext step, Callable<@Nullable Object> next)
              throws Exception {
            seen.add(text(step));
            return next.call();
          }
        };
    worker(
            (ctx, name) -> {
              String first = ctx.step("pack").execute(String.class, CompositionTest::text);
              String second = ctx.step("pack").execute(String.class, CompositionTest::text);
              List<String> inBranch =
                  ctx.parallel(
                      "each",
                      List.of(1),
                      (branch, item) ->
                          branch.step("pack").execute(String.class, CompositionTest::text));
              return String.join(", ", first, second, inBranch.getFirst());
            })
        .interceptor(sees)
        .start();
    RunHandle<String> run = start();

    String of = run.runId() + " greet pack ";
    List<String> expected = List.of(of + "pack", of + "pack#2", of + "each[0]/pack");
    assertThat(run.result(SOON)).isEqualTo(String.join(", ", expected));
    assertThat(seen).isEqualTo(expected);
  }

  private static String text(StepContext step) {
    return String.join(" ", step.runId(), step.workflowType(), step.name(), step.step());
  }
}
