package dev.kagzi.sdk.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.sdk.Branch;
import dev.kagzi.sdk.ChildHandle;
import dev.kagzi.sdk.ContextMisuseException;
import dev.kagzi.sdk.ReplayDiffersException;
import dev.kagzi.sdk.Replayer;
import dev.kagzi.sdk.RequestRefusedException;
import dev.kagzi.sdk.RunFailedException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunInfo;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Signal;
import dev.kagzi.sdk.StepInfo;
import dev.kagzi.sdk.Workflow;
import dev.kagzi.sdk.WorkflowType;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Runs that continue as new, as their code and their callers see them. */
class ContinueAsNewTest extends RealServerTest {
  private static final Signal<String> WORD = Signal.of("word", String.class);

  private RunHandle<String> run(Workflow<String, String> code) {
    kagzi.worker().workflow(type, code).start();
    return kagzi.workflow(type).id("id-" + UUID.randomUUID()).start("");
  }

  private static RunInfo latest(RunHandle<String> run) {
    RunHandle<String> last = run;
    while (last.successor().isPresent()) {
      last = last.successor().get();
    }
    return last.info();
  }

  @Test
  void a_chain_returns_the_result_of_its_last_run_to_who_waits_for_the_first() {
    RunHandle<String> run =
        run(
            (ctx, text) -> {
              String next = ctx.step("add", String.class, () -> text + "a");
              return next.length() < 4 ? ctx.continueAsNew(next) : next;
            });

    assertThat(run.result(SOON)).isEqualTo("aaaa");
    assertThat(run.resultAsync()).succeedsWithin(SOON).isEqualTo("aaaa");
    RunInfo first = run.info();
    RunInfo last = latest(run);
    assertThat(first.status()).isEqualTo(RunStatus.COMPLETED);
    assertThat(first.output()).isEmpty();
    assertThat(last.output(String.class)).contains("aaaa");
    assertThat(last.continuedFrom()).isPresent();
    assertThat(last.workflowId()).isEqualTo(first.workflowId());
    assertThat(kagzi.run(last.runId(), type).history().steps())
        .extracting(StepInfo::key)
        .containsExactly("add");
  }

  @Test
  void signals_reach_the_run_that_is_open_and_each_is_received_once() {
    RunHandle<String> run =
        run(
            (ctx, text) -> {
              String next = text + ctx.receive(WORD);
              return next.length() < 6 ? ctx.continueAsNew(next) : next;
            });

    for (String word : List.of("a", "b", "c", "d", "e", "f")) {
      run.signal(WORD, word, word);
      run.signal(WORD, word, word);
    }

    assertThat(run.result(SOON)).isEqualTo("abcdef");
    run.signal(WORD, "a", "a");
    assertThatThrownBy(() -> run.signal(WORD, "g", "g"))
        .isInstanceOfSatisfying(
            RequestRefusedException.class, e -> assertThat(e.code()).isEqualTo("RUN_ENDED"));
  }

  @Test
  void code_after_the_call_is_not_executed_even_if_it_catches_everything() {
    AtomicInteger after = new AtomicInteger();
    RunHandle<String> run =
        run(
            (ctx, text) -> {
              if (text.equals("next")) {
                return "end";
              }
              try {
                return ctx.continueAsNew("next");
              } catch (Throwable swallowed) {
                try {
                  ctx.step("late", () -> after.incrementAndGet());
                } catch (Throwable again) {
                  // The run has ended: its context refuses every call.
                }
                return "wrong";
              }
            });

    assertThat(run.result(SOON)).isEqualTo("end");
    assertThat(after).hasValue(0);
    assertThat(run.history().steps()).isEmpty();
  }

  @Test
  void an_open_child_is_named_and_the_run_continues_after_it_was_awaited() {
    List<String> said = new CopyOnWriteArrayList<>();
    WorkflowType<String, String> childType =
        WorkflowType.of("greet-child", String.class, String.class).queue(queue);
    kagzi.worker().workflow(childType, (ctx, text) -> text + ctx.receive(WORD)).start();
    RunHandle<String> run =
        run(
            (ctx, text) -> {
              if (!text.isEmpty()) {
                return text;
              }
              ChildHandle<String> child = ctx.child(childType).start("pack", "x");
              try {
                return ctx.continueAsNew("too early");
              } catch (ContextMisuseException e) {
                said.add(String.valueOf(e.getMessage()));
                String childRun = child.runId();
                ctx.step("signal", () -> kagzi.run(childRun, childType).signal(WORD, "y"));
                return ctx.continueAsNew(child.result() + " " + e.misuse());
              }
            });

    assertThat(run.result(SOON)).isEqualTo("xy OPEN_WORK");
    assertThat(said.getFirst()).contains("while these steps are open: pack (expected: none");
    // The run is replayed only if it parked until the child ended.
    assertThat(said).allMatch(said.getFirst()::equals);
  }

  @Test
  void a_replay_is_refused_at_the_same_call_although_the_child_has_ended() {
    List<String> said = new CopyOnWriteArrayList<>();
    WorkflowType<String, String> childType =
        WorkflowType.of("greet-child", String.class, String.class).queue(queue);
    Workflow<String, String> code =
        (ctx, text) -> {
          ChildHandle<String> child = ctx.child(childType).start("pack", "x");
          try {
            return ctx.continueAsNew("too early");
          } catch (ContextMisuseException e) {
            said.add(String.valueOf(e.getMessage()));
            // Records no step: only the refusal itself shows that the code was here.
            return "refused, " + child.result();
          }
        };
    kagzi
        .worker()
        .blockNondeterminism(true)
        .workflow(childType, (ctx, text) -> text + ctx.receive(WORD))
        .workflow(type, code)
        .start();
    RunHandle<String> run = kagzi.workflow(type).start("");
    await().atMost(SOON).until(() -> run.status() == RunStatus.SLEEPING);
    String child = server.steps(run.runId()).getFirst().getChildRunId();
    kagzi.run(child, childType).signal(WORD, "y");

    assertThat(run.result(SOON)).isEqualTo("refused, xy");
    assertThat(said).hasSize(2).allMatch(said.getFirst()::equals);
    assertThat(run.history().steps()).extracting(StepInfo::key).contains("continue-as-new");
    new Replayer().workflow(type, code).replay(run.history());
  }

  @Test
  void a_branch_cannot_continue_the_run() {
    RunHandle<String> run =
        run(
            (ctx, text) ->
                ctx.race(
                    "both",
                    List.of(Branch.<String>of("one", branch -> branch.continueAsNew("next")))));

    assertThatThrownBy(() -> run.result(SOON))
        .isInstanceOf(RunFailedException.class)
        .hasMessageContaining("cannot continue as new in both[one]");
  }

  @Test
  void an_input_of_another_type_is_refused_where_it_is_given() {
    RunHandle<String> run = run((ctx, text) -> ctx.continueAsNew(42));

    assertThatThrownBy(() -> run.result(SOON))
        .isInstanceOf(RunFailedException.class)
        .hasMessageContaining("input: a java.lang.Integer (expected: a java.lang.String");
  }

  @Test
  void a_parent_that_waits_for_a_child_gets_the_result_of_its_chain() {
    WorkflowType<Integer, String> childType =
        WorkflowType.of("greet-child", Integer.class, String.class).queue(queue);
    kagzi
        .worker()
        .workflow(
            childType, (ctx, left) -> left > 0 ? ctx.continueAsNew(left - 1) : "end of the chain")
        .start();
    RunHandle<String> run = run((ctx, text) -> ctx.child(childType).start("count", 3).result());

    assertThat(run.result(SOON)).isEqualTo("end of the chain");
  }

  @Test
  void a_failure_names_the_run_that_failed_and_a_cancel_reaches_the_open_run() {
    RunHandle<String> failing =
        run(
            (ctx, text) -> {
              if (text.isEmpty()) {
                return ctx.continueAsNew("boom");
              }
              if (text.equals("boom")) {
                throw new IllegalStateException(text);
              }
              return ctx.receive(WORD);
            });
    assertThatThrownBy(() -> failing.result(SOON))
        .isInstanceOfSatisfying(
            RunFailedException.class,
            e -> assertThat(e.runId()).isEqualTo(failing.info().continuedTo().orElseThrow()));
    assertThatThrownBy(failing::retry)
        .isInstanceOfSatisfying(
            RequestRefusedException.class, e -> assertThat(e.code()).isEqualTo("RUN_CONTINUED"));
    assertThatThrownBy(failing::resume)
        .isInstanceOfSatisfying(
            RequestRefusedException.class, e -> assertThat(e.code()).isEqualTo("RUN_CONTINUED"));

    RunHandle<String> waiting = kagzi.workflow(type).start("wait");
    await().atMost(SOON).until(() -> waiting.status() == RunStatus.SLEEPING);
    assertThat(waiting.cancel()).isTrue();
  }

  @Test
  void the_successor_may_have_another_version() {
    kagzi
        .worker()
        .workflow(type, (ctx, text) -> ctx.continueAsNewWithVersion("2", text + "old "))
        .workflow(type.version("2"), (ctx, text) -> text + "new " + ctx.version())
        .start();

    assertThat(kagzi.workflow(type).start("").result(SOON)).isEqualTo("old new 2");
  }

  @Test
  void a_recorded_run_that_continued_is_compared_with_code_that_does() {
    Workflow<String, String> code =
        (ctx, text) -> {
          ctx.step("a", () -> {});
          return text.isEmpty() ? ctx.continueAsNew("next") : "end";
        };
    RunHandle<String> run = run(code);
    run.result(SOON);

    new Replayer().workflow(type, code).replay(run.history());
    assertThatThrownBy(
            () ->
                new Replayer()
                    .workflow(
                        type,
                        (ctx, text) -> {
                          ctx.step("a", () -> {});
                          return "end";
                        })
                    .replay(run.history()))
        .isInstanceOf(ReplayDiffersException.class)
        .hasMessageContaining("continues as new");
    assertThatThrownBy(
            () ->
                new Replayer()
                    .workflow(type, (ctx, text) -> ctx.continueAsNew("next"))
                    .replay(run.history()))
        .isInstanceOf(ReplayDiffersException.class)
        .hasMessageContaining("continues as new without it");
  }
}
