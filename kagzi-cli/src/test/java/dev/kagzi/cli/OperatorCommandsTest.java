package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.protocol.v1.GetOverviewResponse;
import dev.kagzi.protocol.v1.GetStatsResponse;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowType;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Counts, queues, workers and the live display. */
@SuppressWarnings("try") // the workers work while they are open
class OperatorCommandsTest extends ServedCommandTest {

  private static final WorkflowType<Integer, Integer> DOUBLE =
      WorkflowType.of("double", Integer.class, Integer.class).queue("numbers");

  private static Worker worker() {
    return kagzi
        .worker()
        .workflow(DOUBLE, (ctx, number) -> 2 * number)
        .maxConcurrent(5)
        .hostname("host-a")
        .start();
  }

  @Test
  void stats_count_runs_workers_and_schedules() {
    try (Worker worker = worker()) {
      kagzi.workflow(DOUBLE).start(1).result(SOON);
      kagzi.workflow(NOBODY_SERVES).start("x");

      assertThat(kagzi("stats")).isZero();
      assertThat(out.toString())
          .containsPattern("(?m)^runs +\\d+$")
          .containsPattern("(?m)^  COMPLETED +\\d+$")
          .containsPattern("(?m)^workers +\\d+, \\d+ online$")
          .containsPattern("(?m)^  double +\\d+$");

      assertThat(kagzi("stats", "-o", "json")).isZero();
      assertThat(json().at("/workflowsByType/double").isNumber()).isTrue();
      assertThat(json().at("/workflowsByType/double").asLong()).isPositive();
      assertThat(json().at("/onlineWorkers").asLong()).isPositive();
      assertThat(kagzi("stats", "--all-namespaces", "-o", "json")).isZero();
      assertThat(kagzi("stats", "--namespace", "nope")).isEqualTo(3);
    }
  }

  @Test
  void queues_are_listed_with_runs_workers_and_slots() {
    kagzi.workflow(NOBODY_SERVES).queue("lonely").start("x");
    kagzi.workflow(NOBODY_SERVES).queue("other").start("x");
    try (Worker worker = worker()) {
      await()
          .atMost(SOON)
          .untilAsserted(
              () -> {
                assertThat(kagzi("queue", "list")).isZero();
                assertThat(out.toString())
                    .containsPattern("(?m)^numbers +0 +0 +0 +- +1 +5 of 5$")
                    .containsPattern("(?m)^lonely +1 +0 +0 +\\S+.* +0 +-$");
              });
    }
    assertThat(kagzi("queue", "list", "--limit", "1", "-o", "json")).isZero();
    assertThat(json().at("/queues").size()).isEqualTo(1);
    assertThat(json().at("/nextPageToken").asString()).isNotEmpty();
    assertThat(kagzi("queue", "list", "--namespace", "nope")).isEqualTo(3);
  }

  @Test
  void the_open_runs_of_queues_are_counted() {
    assertThat(kagzi("namespace", "create", "deep")).isZero();
    try (Kagzi deep = Kagzi.builder().address(address()).namespace("deep").connect()) {
      deep.workflow(NOBODY_SERVES).queue("short").start("x");
      deep.workflow(NOBODY_SERVES).queue("long").start("x");
      deep.workflow(NOBODY_SERVES).queue("long").start("x");
    }

    assertThat(kagzi("queue", "depth", "--namespace", "deep")).isZero();
    assertThat(out.toString())
        .containsPattern("(?m)^pending +3$")
        .containsPattern("(?m)^running +0$")
        .containsPattern("(?m)^sleeping +0$")
        .containsPattern("(?s)\nlong +2\nshort +1\n$");

    assertThat(kagzi("queue", "depth", "short", "--namespace", "deep")).isZero();
    assertThat(out.toString()).containsPattern("(?m)^pending +1$").doesNotContain("QUEUE");
    assertThat(kagzi("queue", "depth", "long", "--namespace", "deep", "-o", "json")).isZero();
    assertThat(json().at("/pendingCount").asLong()).isEqualTo(2);
    assertThat(kagzi("queue", "depth", "--namespace", "nope")).isEqualTo(3);
  }

  @Test
  void a_worker_is_forced_offline_after_a_confirmation_and_has_events() {
    try (Worker worker = worker()) {
      await()
          .atMost(SOON)
          .untilAsserted(
              () -> {
                assertThat(
                        kagzi(
                            "worker",
                            "list",
                            "--status",
                            "online",
                            "--queue",
                            "numbers",
                            "-o",
                            "json"))
                    .isZero();
                assertThat(json().at("/workers").size()).isPositive();
              });
      String id = json().at("/workers/0/workerId").asString();

      assertThat(kagzi("worker", "force-offline", id)).isEqualTo(2);
      assertThat(err.toString()).contains("Set worker " + id + " offline", "(expected: --yes)");
      assertThat(kagzi("worker", "force-offline", id, "--reason", "host is gone", "--yes"))
          .isZero();
      assertThat(out.toString()).startsWith("worker " + id + " is offline; it held 0 runs");

      assertThat(kagzi("worker", "events", id)).isZero();
      assertThat(out.toString())
          .containsPattern("OFFLINE +.*host is gone")
          .containsPattern("(?m)ONLINE +\\S*");
      assertThat(kagzi("worker", "events", id, "--limit", "1", "-o", "json")).isZero();
      assertThat(json().at("/events/0/event").asString()).isEqualTo("OFFLINE");
      assertThat(json().at("/nextPageToken").asString()).isNotEmpty();
    }
    assertThat(kagzi("worker", "events", UUID.randomUUID().toString())).isEqualTo(3);
    assertThat(kagzi("worker", "force-offline", UUID.randomUUID().toString(), "-y")).isEqualTo(3);
  }

  @Test
  void top_without_a_terminal_shows_one_screen_with_rates() {
    try (Worker worker = worker()) {
      kagzi.workflow(DOUBLE).start(1).result(SOON);

      assertThat(kagzi("top", "--interval", "200ms")).isZero();
      assertThat(out.toString())
          .startsWith("kagzi top, namespace default")
          .contains("per second: 0.0 started, 0.0 ended, 0.0 failed")
          .containsPattern("(?m)^numbers ")
          .containsPattern("(?m)^\\S+ +numbers +\\d+ of 5 .*host-a$")
          .containsPattern("(?m)^double +\\d+ +\\d.*s +\\d.*s$");

      assertThat(kagzi("top", "--once", "--interval", "100ms", "-o", "json")).isZero();
      assertThat(json().at("/rates/startsPerSecond").asDouble()).isZero();
      assertThat(json().at("/queues").size()).isPositive();
      assertThat(json().at("/stats/totalWorkflows").asLong()).isPositive();
    }
    assertThat(kagzi("top", "--interval", "soon")).isEqualTo(2);
    assertThat(err.toString()).contains("--interval: soon (expected: ");
    assertThat(kagzi("top", "--once", "--namespace", "nope")).isEqualTo(3);
  }

  @Test
  void top_draws_over_the_last_screen_until_q_is_pressed() {
    StringWriter drawn = new StringWriter();
    Screen screen = new Screen(new PrintWriter(drawn), false);
    RemoteServer server =
        new RemoteServer(Kagzi.builder().address(address()), address(), "default");
    try (server;
        Terminal.QuitKey quit =
            new Terminal.QuitKey(
                new ByteArrayInputStream("xq".getBytes(StandardCharsets.US_ASCII)))) {
      TopCommand.Sample first = TopCommand.sample(server);

      int exitCode = TopCommand.live(server, screen, Duration.ofSeconds(30), quit, first);

      assertThat(exitCode).isZero();
      assertThat(drawn.toString())
          .startsWith("kagzi top, namespace default")
          .contains("per second: - started, - ended, - failed");
    }
  }

  @Test
  void top_counts_what_it_does_not_show() {
    assertThat(TopText.frame("default", overview(1, 11, 1), null))
        .contains("; 1 worker online\n", "and 1 more queue\n")
        .doesNotContain("more worker");
    assertThat(TopText.frame("default", overview(50, 50, 61), null))
        .contains("; 61 workers online\n", "and 51 more workers\n")
        .contains("and at least 40 more queues\n");
  }

  private static GetOverviewResponse overview(int workers, int queues, int online) {
    GetOverviewResponse.Builder overview = GetOverviewResponse.newBuilder();
    for (int i = 0; i < workers; i++) {
      overview.addWorkersBuilder().setWorkerId("w" + i);
    }
    for (int i = 0; i < queues; i++) {
      overview.addQueuesBuilder().setTaskQueue("q" + i);
    }
    overview.getStatsBuilder().setOnlineWorkers(online);
    return overview.build();
  }

  @Test
  void a_frame_replaces_the_one_before_and_is_cut_to_the_terminal() {
    StringWriter drawn = new StringWriter();
    PrintWriter writer = new PrintWriter(drawn);
    Screen screen = new Screen(writer, true);

    screen.redraw("abcdef\nb\nc\nd\n", new Terminal.Size(3, 4));
    screen.redraw("x\n", new Terminal.Size(3, 4));
    writer.flush();

    assertThat(drawn.toString())
        .isEqualTo(
            "\u001b[2J\u001b[Habcd\u001b[K\nb\u001b[K\n\u001b[J" + "\u001b[Hx\u001b[K\n\u001b[J");
  }

  @Test
  void rates_are_differences_per_second_and_never_negative() {
    TopCommand.Sample before = sample(100, 50, 10, 0);
    TopCommand.Sample after = sample(120, 60, 15, 2_000_000_000L);
    TopCommand.Sample purged = sample(20, 0, 0, 4_000_000_000L);

    assertThat(Rates.between(before, after)).isEqualTo(new Rates(10.0, 7.5, 2.5));
    assertThat(Rates.between(after, purged)).isEqualTo(new Rates(0.0, 0.0, 0.0));
  }

  private static TopCommand.Sample sample(long all, long completed, long failed, long nanos) {
    return new TopCommand.Sample(
        GetOverviewResponse.newBuilder()
            .setStats(
                GetStatsResponse.newBuilder()
                    .setTotalWorkflows(all)
                    .putWorkflowsByStatus("COMPLETED", completed)
                    .putWorkflowsByStatus("FAILED", failed))
            .build(),
        nanos);
  }

  /** The test interrupts the watch, as nothing else ends it. */
  @Test
  void lists_are_shown_again_until_the_watch_ends() throws Exception {
    kagzi.workflow(NOBODY_SERVES).start("x");
    String worker;
    try (Worker any = worker()) {
      await().atMost(SOON).until(() -> kagzi.admin().workers().findAny().isPresent());
      worker = kagzi.admin().workers().findFirst().orElseThrow().workerId();
    }
    assertThat(
            kagzi(
                "schedule",
                "create",
                "--name",
                "rare",
                "--workflow",
                "x",
                "--queue",
                "nobody",
                "--cron",
                "@yearly",
                "--paused"))
        .isZero();
    for (List<String> command :
        List.of(
            List.of("namespace", "list"),
            List.of("type", "list"),
            List.of("schedule", "runs", "rare"),
            List.of("worker", "events", worker),
            List.of("queue", "depth"),
            List.of("workflow", "list", "--type", "nobody-serves", "--limit", "1"),
            List.of("worker", "list", "--queue", "nobody"),
            List.of("schedule", "list", "--queue", "nobody-else"),
            List.of("queue", "list"),
            List.of("stats"))) {
      String once = watched(command);

      String shown = watched(concat(command, "--watch=100ms"));

      assertThat(shown).as("%s", command).startsWith(once.lines().findFirst().orElseThrow());
      assertThat(shown.split("\n\n", -1)).hasSizeGreaterThanOrEqualTo(2);
    }
  }

  @Test
  void a_watch_prints_one_json_document_per_line() throws Exception {
    String shown = watched(List.of("stats", "-o", "json", "--watch", "100ms"));

    assertThat(shown.lines())
        .hasSizeGreaterThanOrEqualTo(2)
        .allMatch(line -> line.startsWith("{\"totalWorkflows\":") && line.endsWith("}"));
  }

  @Test
  void a_wrong_interval_is_refused() {
    assertThat(workflow("list", "--watch=now")).isEqualTo(2);
    assertThat(err.toString()).contains("--watch: now (expected: a length of time");
  }

  @Test
  void a_watch_ends_when_its_reader_does(@TempDir Path folder)
      throws IOException, InterruptedException {
    for (String format : List.of("table", "json")) {
      try (KagziProcess process =
          KagziProcess.start(
              folder, Map.of(), "stats", "--watch=100ms", "-o", format, "--address", address())) {
        process.outputUntil("\n");

        process.closeOutput();

        assertThat(process.awaitExit()).as(format).isZero();
        assertThat(process.errors()).isEmpty();
      }
    }
  }

  private static List<String> concat(List<String> words, String last) {
    return Stream.concat(words.stream(), Stream.of(last)).toList();
  }

  /** Runs a command until it has ended, or has printed twice; returns its output. */
  private static String watched(List<String> command) throws InterruptedException {
    List<String> words = new ArrayList<>(command);
    words.addAll(List.of("--address", address()));
    StringWriter printed = new StringWriter();
    AtomicInteger exitCode = new AtomicInteger(-1);
    Thread thread =
        Thread.ofPlatform()
            .start(
                () -> {
                  String[] arguments = words.toArray(String[]::new);
                  PrintWriter writer = new PrintWriter(printed);
                  exitCode.set(
                      Main.commandLine(CommandTree.of(arguments))
                          .setOut(writer)
                          .setErr(writer)
                          .execute(arguments));
                });
    await().atMost(SOON).until(() -> !thread.isAlive() || isShownTwice(printed.toString()));
    thread.interrupt();
    thread.join(SOON);
    assertThat(exitCode).hasValue(0);
    return printed.toString();
  }

  private static boolean isShownTwice(String printed) {
    return printed.startsWith("{") ? printed.lines().count() >= 2 : printed.contains("\n\n");
  }
}
