package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.sdk.OnCancel;
import dev.kagzi.sdk.ReplayDiffersException;
import dev.kagzi.sdk.Replayer;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunCancelledException;
import dev.kagzi.sdk.RunFailedException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunHistory;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.SignalInfo;
import dev.kagzi.sdk.StepInfo;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.Workflow;
import dev.kagzi.sdk.WorkflowType;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class WorkflowCommandTest extends ServedCommandTest {

  @Test
  void a_run_is_shown_with_every_attempt_of_its_steps() {
    RunHandle<String> run = failedPayment();

    assertThat(workflow("get", run.runId())).isZero();

    assertThat(out.toString().lines())
        .anyMatch(line -> line.matches("run +" + run.runId()))
        .anyMatch(line -> line.matches("type +pay"))
        .anyMatch(line -> line.matches("status +FAILED"))
        .anyMatch(line -> line.matches("error +NETWORK java.net.ConnectException: refused 2"))
        .anyMatch(line -> line.matches("in step +charge#2"))
        .anyMatch(line -> line.matches("caused by +java.io.IOException: cable"))
        .anyMatch(line -> line.matches("stack +at dev.kagzi.cli.WorkflowCommandTest.*"))
        .noneMatch(line -> line.startsWith("crashes"))
        .anyMatch(line -> line.matches("input +\"Ada\""))
        .anyMatch(line -> line.matches("STEP +TRY +KIND +STATUS +STARTED +TOOK +ERROR"))
        .anyMatch(line -> line.matches("quote +1 +FUNCTION +COMPLETED .*"))
        .anyMatch(line -> line.matches("charge +1 +FUNCTION +COMPLETED .*"))
        .anyMatch(line -> line.matches("charge#2 +1 +FUNCTION +FAILED .*refused 1"))
        .anyMatch(line -> line.matches("charge#2 +2 +FUNCTION +FAILED .*refused 2"));
    assertThat(err.toString()).isEmpty();
  }

  @Test
  void a_run_is_found_by_the_id_of_its_start_and_is_json_if_asked_for() {
    RunHandle<String> run = kagzi.workflow(NOBODY_SERVES).id("order-42").start("Ada");

    assertThat(workflow("get", "order-42", "-o", "json")).isZero();

    JsonNode json = JsonMapper.builder().build().readTree(out.toString());
    assertThat(json.at("/runId").asString()).isEqualTo(run.runId());
    assertThat(json.at("/status").asString()).isEqualTo("PENDING");
    assertThat(json.at("/input").asString()).isEqualTo("Ada");
    assertThat(json.at("/createdAt").asString()).endsWith("Z");
    assertThat(json.at("/steps").isArray()).isTrue();
  }

  @Test
  void headers_of_a_start_are_stored_and_shown() {
    assertThat(
            workflow(
                "start",
                "nobody",
                "--queue",
                "q",
                "--id",
                "with-headers",
                "--header",
                "tenant=acme",
                "--header",
                "note=a=b"))
        .isZero();
    out.getBuffer().setLength(0);

    assertThat(workflow("get", "with-headers")).isZero();

    assertThat(out.toString().lines())
        .anyMatch(line -> line.matches("header +note=a=b"))
        .anyMatch(line -> line.matches("header +tenant=acme"));
    out.getBuffer().setLength(0);
    assertThat(workflow("get", "with-headers", "-o", "json")).isZero();
    JsonNode json = JsonMapper.builder().build().readTree(out.toString());
    assertThat(json.at("/headers/tenant").asString()).isEqualTo("acme");
    assertThat(workflow("start", "nobody", "--queue", "q", "--header", "tenant"))
        .isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).contains("--header: tenant (expected: NAME=VALUE)");
  }

  @Test
  @SuppressWarnings("try") // the worker works while it is open
  void lists_show_blocked_runs_and_choose_by_blocked_top_level_and_age() {
    WorkflowType<String, String> text =
        WorkflowType.of("mixed", String.class, String.class).queue("mixed");
    WorkflowType<Integer, String> number =
        WorkflowType.of("mixed", Integer.class, String.class).queue("mixed");
    WorkflowType<String, String> child =
        WorkflowType.of("mixed-child", String.class, String.class).queue("mixed");
    String parent;
    String blocked;
    try (Worker worker =
        kagzi
            .worker()
            .workflow(number, (ctx, input) -> ctx.child(child).run("c", "x"))
            .workflow(child, (ctx, input) -> input)
            .start()) {
      RunHandle<String> good = kagzi.workflow(number).start(1);
      parent = good.runId();
      blocked = kagzi.workflow(text).start("not a number").runId();
      assertThat(good.result(SOON)).isEqualTo("x");
      await()
          .atMost(SOON)
          .until(() -> kagzi.list().queue("mixed").blocked().page().runs().size() == 1);
    }

    assertThat(list("--blocked")).containsExactly(blocked);
    assertThat(out.toString()).contains(" BLOCKED ");
    assertThat(list("--top-level")).containsExactly(blocked, parent);
    assertThat(list()).hasSize(3).contains(blocked, parent);
    assertThat(kagzi.list().queue("mixed").topLevel().page().runs()).hasSize(2);
    assertThat(list("--since", "1h")).hasSize(3);
    assertThat(list("--since", "2999-01-01T00:00:00Z")).isEmpty();
    assertThat(list("--since", "2020-01-01")).hasSize(3);
    assertThat(workflow("list", "--since", "yesterday")).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString())
        .contains("--since: yesterday (expected: a length of time such as 30m");
  }

  /** Returns the ids of the runs of one queue, as the command lists them. */
  private List<String> list(String... options) {
    out.getBuffer().setLength(0);
    List<String> words = new ArrayList<>(List.of("list", "--queue", "mixed"));
    words.addAll(List.of(options));
    assertThat(workflow(words.toArray(String[]::new))).isZero();
    return out.toString()
        .lines()
        .filter(line -> line.matches("[0-9a-f]{8}-.*"))
        .map(line -> line.substring(0, 36))
        .toList();
  }

  @Test
  @SuppressWarnings("try") // the worker works while it is open
  void an_exported_run_is_a_history_that_the_code_can_be_replayed_against() {
    byte[] large = new byte[100_000];
    Workflow<String, byte[]> code =
        (ctx, name) -> {
          ctx.step("charge").input(name).run(String.class, () -> "charged");
          ctx.sleep("rest", Duration.ofMillis(1));
          return ctx.step("draw", byte[].class, () -> large);
        };
    WorkflowType<String, byte[]> type = WorkflowType.of("draw", String.class, byte[].class);
    try (Worker worker = kagzi.worker().workflow(type, code).start()) {
      RunHandle<byte[]> run = kagzi.workflow(type).id("draw-1").start("Ada");
      assertThat(run.result(SOON)).isEqualTo(large);
    }

    for (String form : List.of("table", "json")) {
      assertThat(workflow("export", "draw-1", "-o", form)).isZero();
      RunHistory history = RunHistory.parse(out.toString());

      assertThat(history.steps())
          .extracting(StepInfo::key)
          .containsExactly("charge", "rest", "draw");
      new Replayer().workflow(type, code).replay(history);
      assertThatThrownBy(
              () ->
                  new Replayer()
                      .workflow(type, (ctx, name) -> ctx.step("draw", byte[].class, () -> large))
                      .replay(history))
          .isInstanceOf(ReplayDiffersException.class)
          .hasMessageContaining("step 1: on record is step charge, the code asks for step draw");
      assertThat(history.toJson()).isEqualToIgnoringNewLines(out.toString());
    }
    assertThat(err.toString()).isEmpty();
    assertThat(workflow("export", "no-such-run")).isEqualTo(3);
  }

  @Test
  void a_run_that_no_worker_serves_shows_why_it_waits() {
    RunHandle<String> run = kagzi.workflow(NOBODY_SERVES).start("Ada");

    assertThat(workflow("get", run.runId())).isZero();

    assertThat(out.toString().lines())
        .anyMatch(line -> line.matches("why +No worker is online on queue .*"));
    assertThat(workflow("get", run.runId(), "-o", "json")).isZero();
    assertThat(json().at("/why/0/code").asString()).isEqualTo("NO_WORKER");
  }

  @Test
  void runs_are_listed_by_status_and_type_newest_first() {
    String failed = failedPayment().runId();
    String later = failedPayment().runId();

    assertThat(workflow("list", "--status", "failed,TIMED_OUT", "--type", "pay", "--limit", "2"))
        .isZero();

    assertThat(out.toString().lines().toList())
        .hasSize(3)
        .satisfies(lines -> assertThat(lines.get(0)).startsWith("RUN ").contains("STATUS"))
        .satisfies(lines -> assertThat(lines.get(1)).startsWith(later).contains("FAILED"))
        .satisfies(lines -> assertThat(lines.get(2)).startsWith(failed).contains("refused 2"));
    assertThat(workflow("list", "--type", "pay", "--limit", "1")).isZero();
    assertThat(out.toString().lines()).hasSize(2);
    assertThat(err.toString())
        .startsWith("kagzi: there are more: --limit shows more at once, --page-token ")
        .hasLineCount(1);
    assertThat(workflow("list", "--type", "no-such-type")).isZero();
    assertThat(out.toString()).isEmpty();
    assertThat(err.toString()).isEqualToIgnoringNewLines("kagzi: no workflows");
  }

  @Test
  void published_values_are_listed_and_printed() {
    WorkflowType<String, String> type =
        WorkflowType.of("publishing", String.class, String.class).queue("publishing");
    try (Worker worker =
        kagzi
            .worker("publishing")
            .workflow(
                type,
                (ctx, name) -> {
                  ctx.publish("progress", Map.of("done", 3));
                  ctx.publish("state", "all");
                  return name;
                })
            .start()) {
      assertThat(worker).isNotNull();
      RunHandle<String> run = kagzi.workflow(type).start("Ada");
      run.result();

      assertThat(workflow("published", run.runId())).isZero();
      assertThat(out.toString().lines().map(line -> line.replaceAll("20[^ ]+", "T")))
          .satisfiesExactly(
              line -> assertThat(line).matches("NAME +PUBLISHED +VALUE"),
              line -> assertThat(line).matches("progress +T +\\{\"done\":3}"),
              line -> assertThat(line).matches("state +T +\"all\""));
      assertThat(workflow("published", run.runId(), "progress")).isZero();
      assertThat(out.toString()).isEqualToIgnoringNewLines("{\"done\":3}");
      assertThat(workflow("published", run.runId(), "-o", "json")).isZero();
      assertThat(out.toString()).contains("\"name\" : \"state\"", "\"publishedAt\"");
      assertThat(workflow("get", run.runId())).isZero();
      assertThat(out.toString().lines())
          .anyMatch(line -> line.matches("published +progress = \\{\"done\":3}"));
      assertThat(workflow("published", run.runId(), "other")).isEqualTo(3);
      assertThat(err.toString()).contains("other was not published (expected: a name that");
    }
  }

  @Test
  void a_callback_is_answered_once_and_a_repetition_prints_the_first_answer() {
    WorkflowType<String, String> pay =
        WorkflowType.of("pay", String.class, String.class).queue("pay");
    try (Worker worker =
        kagzi
            .worker("pay")
            .workflow(pay, (ctx, name) -> name + ctx.callback("payment", Integer.class).await())
            .start()) {
      RunHandle<String> run = kagzi.workflow(pay).start("Ada ");
      await().atMost(SOON).until(() -> run.status() == RunStatus.SLEEPING);
      assertThat(workflow("why", run.runId())).isZero();
      assertThat(out.toString().replaceAll("\\s+", " "))
          .contains("has waited for the answer of callback payment");

      assertThat(workflow("callback", run.runId(), "payment", "--input", "12")).isZero();
      assertThat(out.toString()).isEqualToIgnoringNewLines("completed");
      assertThat(run.result(SOON)).isEqualTo("Ada 12");
      assertThat(workflow("callback", run.runId(), "payment", "--fail", "late")).isZero();
      assertThat(out.toString()).isEqualToIgnoringNewLines("completed");
      assertThat(workflow("callback", run.runId(), "other", "--fail", "no")).isEqualTo(3);
      assertThat(err.toString()).contains("[CALLBACK_NOT_FOUND]");
      assertThat(workflow("callback", run.runId(), "payment")).isEqualTo(2);
      assertThat(worker).isNotNull();
    }
  }

  @Test
  void the_runs_of_a_chain_are_shown_and_its_result_is_that_of_the_last_one() {
    WorkflowType<Integer, String> count =
        WorkflowType.of("count", Integer.class, String.class).queue("counts");
    RunHandle<String> run;
    try (Worker worker =
        kagzi
            .worker()
            .workflow(count, (ctx, left) -> left == 0 ? "end" : ctx.continueAsNew(left - 1))
            .start()) {
      run = kagzi.workflow(count).start(2);
      assertThat(worker).isNotNull();
      assertThat(workflow("result", run.runId())).isZero();
      assertThat(out.toString()).isEqualToIgnoringNewLines("\"end\"");
    }
    String second = run.info().continuedTo().orElseThrow();

    assertThat(workflow("get", run.runId())).isZero();
    assertThat(out.toString().lines())
        .anyMatch(line -> line.matches("continued as +" + second))
        .noneMatch(line -> line.startsWith("continues"));
    assertThat(workflow("get", second)).isZero();
    assertThat(out.toString().lines())
        .anyMatch(line -> line.matches("continues +" + run.runId()))
        .anyMatch(line -> line.startsWith("continued as"));
    assertThat(workflow("why", run.runId())).isZero();
    assertThat(out.toString().replaceAll("\\s+", " "))
        .contains("The run continued as run " + second);
    assertThat(workflow("retry", run.runId())).isEqualTo(1);
    assertThat(err.toString()).contains("has continued as run " + second, "[RUN_CONTINUED]");
  }

  @Test
  void a_signal_is_stored_once_per_id_and_shown_until_it_is_received() {
    RunHandle<String> run = kagzi.workflow(NOBODY_SERVES).start("Ada");
    for (int i = 0; i < 2; i++) {
      assertThat(
              workflow(
                  "signal", run.runId(), "approval", "--input", "{\"by\": \"ann\"}", "--id", "e1"))
          .isZero();
      assertThat(out.toString()).isEqualToIgnoringNewLines("e1");
    }
    assertThat(run.signals()).extracting(SignalInfo::name).containsExactly("approval");

    assertThat(workflow("get", run.runId())).isZero();
    assertThat(out.toString().lines()).anyMatch(line -> line.matches("signals +1 not received"));
    run.cancel();
    assertThat(workflow("signal", run.runId(), "approval", "--input", "1")).isEqualTo(1);
    assertThat(err.toString()).contains("status CANCELLED (expected: an open run", "[RUN_ENDED]");
    assertThat(workflow("signal", run.runId(), "approval", "--input", "no json")).isEqualTo(2);
    assertThat(workflow("why", run.runId())).isZero();
    assertThat(out.toString().replaceAll("\\s+", " "))
        .contains("It never received 1 signal: approval.");
  }

  @Test
  @SuppressWarnings("try") // close() stops the worker
  void a_cancel_of_a_run_that_cleans_up_says_so_and_until_when() throws Exception {
    WorkflowType<String, String> cleaning =
        WorkflowType.of("cleaning", String.class, String.class)
            .queue("cleaning")
            .onCancel(OnCancel.CLEAN_UP, Duration.ofMinutes(5));
    CountDownLatch undone = new CountDownLatch(1);
    try (Worker worker =
        kagzi
            .worker()
            .workflow(
                cleaning,
                (ctx, name) -> {
                  try {
                    ctx.sleep("nap", Duration.ofHours(1));
                  } finally {
                    ctx.cleanup("undo", undone::await);
                  }
                  return name;
                })
            .start()) {
      RunHandle<String> run = kagzi.workflow(cleaning).start("Ada");
      await().atMost(Duration.ofSeconds(20)).until(() -> run.status() == RunStatus.SLEEPING);

      assertThat(workflow("cancel", run.runId())).isZero();
      assertThat(out.toString())
          .startsWith("run " + run.runId() + " is cancelled: its code cleans up, until ");
      assertThat(workflow("get", run.runId())).isZero();
      assertThat(out.toString().lines()).anyMatch(line -> line.startsWith("cancel requested"));
      assertThat(workflow("why", run.runId())).isZero();
      assertThat(out.toString()).contains("[CANCEL_REQUESTED");
      undone.countDown();
      assertThatThrownBy(() -> run.result(Duration.ofSeconds(20)))
          .isInstanceOf(RunCancelledException.class);
    }
  }

  @Test
  void a_cancel_reports_whether_it_took_effect() {
    RunHandle<String> run = kagzi.workflow(NOBODY_SERVES).start("Ada");
    RunHandle<String> ended = kagzi.workflow(NOBODY_SERVES).start("Bob");
    ended.terminate("enough");

    for (int i = 0; i < 2; i++) {
      assertThat(workflow("cancel", run.runId())).isZero();
      assertThat(out.toString()).isEqualToIgnoringNewLines("run " + run.runId() + " cancelled");
    }

    assertThat(workflow("cancel", ended.runId())).isEqualTo(1);
    assertThat(out.toString()).isEmpty();
    assertThat(err.toString())
        .isEqualToIgnoringNewLines("kagzi: run " + ended.runId() + " had already ended as FAILED");

    assertThat(workflow("cancel", "-o", "json", ended.runId())).isEqualTo(1);
    assertThat(JsonMapper.builder().build().readTree(out.toString()).at("/cancelled").asBoolean())
        .isFalse();
  }

  @Test
  void an_unknown_run_is_reported_in_one_line() {
    String unknown = UUID.randomUUID().toString();

    assertThat(workflow("get", unknown)).isEqualTo(3);
    assertThat(err.toString()).startsWith("kagzi: ").contains(unknown).hasLineCount(1);
    assertThat(workflow("cancel", "no-such-order")).isEqualTo(3);
    assertThat(err.toString()).startsWith("kagzi: ").contains("no-such-order").hasLineCount(1);
  }

  @Test
  void wrong_usage_is_exit_code_2() {
    assertThat(workflow("get")).isEqualTo(2);
    assertThat(workflow("list", "--limit", "0")).isEqualTo(2);
    assertThat(err.toString()).contains("--limit: 0 (expected: at least 1)");
    assertThat(workflow("list", "--status", "LOST")).isEqualTo(2);
    assertThat(workflow("list", "-o", "xml")).isEqualTo(2);
    assertThat(execute("workflow")).isEqualTo(2);
    assertThat(err.toString()).contains("command: none (expected: start, get, why, list");
  }

  @Test
  void a_server_that_does_not_answer_is_named() {
    int code =
        Main.commandLine()
            .setOut(new PrintWriter(out))
            .setErr(new PrintWriter(err))
            .execute("workflow", "list", "--address", "127.0.0.1:1");

    assertThat(code).isEqualTo(4);
    assertThat(err.toString())
        .isEqualToIgnoringNewLines(
            "kagzi: server: 127.0.0.1:1 does not answer (expected: a running server there, or --address"
                + " HOST:PORT)");
  }

  @Test
  void a_server_that_ends_the_connection_is_distinguished_from_an_unreachable_one()
      throws Exception {
    try (ServerSocket rude = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      Thread.ofVirtual().start(() -> hangUp(rude));
      String address = "127.0.0.1:" + rude.getLocalPort();

      int code =
          Main.commandLine()
              .setOut(new PrintWriter(out))
              .setErr(new PrintWriter(err))
              .execute("workflow", "list", "--address", address);

      assertThat(code).isEqualTo(4);
      assertThat(err.toString())
          .isEqualToIgnoringNewLines(
              "kagzi: server: %s ended the connection (expected: a Kagzi server; --tls if it requires TLS)"
                  .formatted(address));
    }
  }

  private static void hangUp(ServerSocket server) {
    try {
      while (true) {
        Socket caller = server.accept();
        caller.getInputStream().read();
        caller.close();
      }
    } catch (IOException closed) {
      // The test is over.
    }
  }

  @SuppressWarnings("try") // the worker works while it is open
  private static RunHandle<String> failedPayment() {
    AtomicInteger calls = new AtomicInteger();
    try (Worker worker =
        kagzi
            .worker()
            .workflow(
                PAY,
                (ctx, name) -> {
                  ctx.step("quote", () -> {});
                  ctx.step("charge", () -> {});
                  return ctx.step("charge")
                      .retry(Retry.fixed(2, Duration.ofMillis(10)))
                      .run(
                          String.class,
                          () -> {
                            throw (ConnectException)
                                new ConnectException("refused " + calls.incrementAndGet())
                                    .initCause(new IOException("cable"));
                          });
                })
            .start()) {
      RunHandle<String> run = kagzi.workflow(PAY).start("Ada");
      assertThatThrownBy(() -> run.result(SOON)).isInstanceOf(RunFailedException.class);
      return run;
    }
  }
}
