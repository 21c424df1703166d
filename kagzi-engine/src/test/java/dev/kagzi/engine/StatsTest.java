package dev.kagzi.engine;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.failed;
import static dev.kagzi.engine.TestEngine.payload;
import static dev.kagzi.engine.TestEngine.sleep;
import static dev.kagzi.engine.TestEngine.stepDone;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.engine.dispatch.Poll;
import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.internal.run.RunCounts;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.query.QueueDepth;
import dev.kagzi.engine.query.RunFilter;
import dev.kagzi.engine.query.Stats;
import dev.kagzi.engine.query.TypeView;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.IfExists;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.WorkerId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Compares the statistics with a full scan. */
class StatsTest {
  private static final RetryPolicy TWICE = new RetryPolicy(2, 1, 1.0, 1, 0, List.of());

  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private final Random random = new Random(7);
  private final List<RunId> runs = new ArrayList<>();
  private final List<Claim> held = new ArrayList<>();

  @Test
  void statistics_equal_a_full_scan_after_random_changes_by_two_servers() {
    try (TestEngine here = TestEngine.start(database.config(), "walk");
        TestEngine there = TestEngine.start(database.config(), "walk")) {
      List<TestEngine> engines = List.of(here, there, here.onQueue("other"));
      Map<TestEngine, WorkerId> workers = new HashMap<>();
      for (int i = 0; i < 600; i++) {
        TestEngine engine = engines.get(random.nextInt(engines.size()));
        WorkerId worker = workers.computeIfAbsent(engine, TestEngine::register);
        act(engine, worker);
        if (i % 50 == 0) {
          assertExact(here);
        }
        if (i % 150 == 149) {
          await(engine.engine().workers().deregister(null, worker, false));
          workers.remove(engine);
        }
      }

      assertThat(scan().keySet())
          .as("what the walk came by")
          .anyMatch(key -> key.endsWith("PENDING"))
          .anyMatch(key -> key.endsWith("RUNNING"))
          .anyMatch(key -> key.endsWith("SLEEPING"))
          .anyMatch(key -> key.endsWith("COMPLETED"))
          .anyMatch(key -> key.endsWith("FAILED"))
          .anyMatch(key -> key.endsWith("CANCELLED"));
      assertExact(there);
    }

    fold();
    assertThat(folded()).isEqualTo(scan());
  }

  private void act(TestEngine engine, WorkerId worker) {
    try {
      switch (random.nextInt(14)) {
        case 0, 1 -> runs.add(engine.start());
        case 2 -> runs.add(engine.start(TWICE));
        case 3 -> startMany(engine);
        case 4 -> startAgain(engine);
        case 5, 6 -> poll(engine, worker);
        case 7 -> report(engine, claim -> done(claim, "1"));
        case 8 ->
            reportAll(engine, claim -> List.of(stepDone(claim, "last", "2"), done(claim, "1")));
        case 9 -> report(engine, claim -> failed(claim, "no"));
        case 10 -> report(engine, claim -> sleep(claim, "nap", random.nextInt(2) * 3_600_000L));
        case 11 -> report(engine, claim -> new Report.Released(claim, 0, null));
        case 12 -> fromOutside(engine);
        default -> takeOver();
      }
    } catch (Refusal notNow) {
      // Lost claims and ended runs are expected in a random sequence.
    }
  }

  private void startMany(TestEngine engine) {
    List<StartRequest> requests = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      requests.add(
          new StartRequest(
              NAMESPACE,
              "",
              engine.queue().queue(),
              TYPE + i % 2,
              "v" + i % 3,
              payload("1"),
              null,
              null,
              StartOptions.NONE));
    }
    engine.engine().runs().startAll(requests).forEach(started -> runs.add(await(started).runId()));
  }

  /** Some of these insert a run and roll it back. */
  private void startAgain(TestEngine engine) {
    StartOptions any = new TestOptions().withIfExists(IfExists.USE_EXISTING_ANY).build();
    List<StartRequest> requests = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      requests.add(
          new StartRequest(
              NAMESPACE,
              "again-" + random.nextInt(4),
              engine.queue().queue(),
              TYPE,
              "",
              payload("1"),
              null,
              null,
              random.nextBoolean() ? any : StartOptions.NONE));
    }
    engine.engine().runs().startAll(requests).forEach(started -> runs.add(await(started).runId()));
  }

  private void poll(TestEngine engine, WorkerId worker) {
    PollRequest request =
        new PollRequest(
            engine.queue(),
            worker,
            List.of(
                new PollRequest.Wanted(TYPE, "", 0),
                new PollRequest.Wanted(TYPE + 0, PollRequest.ANY_VERSION, 0)),
            1 + random.nextInt(4),
            200);
    Poll poll = engine.engine().tasks().poll(request);
    runs.add(engine.start());
    for (Task task : await(poll.tasks())) {
      held.add(task.claim());
    }
  }

  private interface OneReport {
    Report of(Claim claim);
  }

  private void report(TestEngine engine, OneReport reports) {
    reportAll(engine, claim -> List.of(reports.of(claim)));
  }

  private interface ManyReports {
    List<Report> of(Claim claim);
  }

  private void reportAll(TestEngine engine, ManyReports reports) {
    if (!held.isEmpty()) {
      engine.report(reports.of(held.remove(random.nextInt(held.size()))));
    }
  }

  private void fromOutside(TestEngine engine) {
    RunId run = runs.isEmpty() ? RunId.next() : runs.get(random.nextInt(runs.size()));
    switch (random.nextInt(4)) {
      case 0 -> await(engine.engine().runs().cancel(NAMESPACE, run));
      case 1 -> await(engine.engine().runs().terminate(NAMESPACE, run, "enough"));
      case 2 -> await(engine.engine().runs().resume(NAMESPACE, run, null, true));
      default -> runs.add(await(engine.engine().runs().retry(NAMESPACE, run, null, null)).runId());
    }
  }

  /** Lets a lease end: the next claim query takes the run over or delays it. */
  private void takeOver() {
    if (!held.isEmpty()) {
      database.execute(
          "UPDATE kagzi.workflow_runs SET available_at = kagzi.clock() WHERE status = 'RUNNING'"
              + " AND run_id = '%s'".formatted(held.get(0).runId()));
    }
  }

  /**
   * The servers keep working, so this reads the statistics and the scan again until both are equal.
   */
  private void assertExact(TestEngine engine) {
    await()
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(
            () -> {
              Map<String, Long> scan = scan();
              assertThat(stats(engine.engine().queries().stats(NAMESPACE))).isEqualTo(sums(scan));
              assertDepth(engine, scan);
              assertTypes(engine, scan);
            });
  }

  private static void assertDepth(TestEngine engine, Map<String, Long> scan) {
    QueueDepth all = engine.engine().queries().depth(NAMESPACE, null);
    QueueDepth one = engine.engine().queries().depth(NAMESPACE, "walk");

    assertThat(all.pending()).isEqualTo(sum(scan, "", "PENDING"));
    assertThat(all.sleeping()).isEqualTo(sum(scan, "", "SLEEPING"));
    assertThat(one.running()).isEqualTo(sum(scan, "walk/", "RUNNING"));
    assertThat(one.pending()).isEqualTo(sum(scan, "walk/", "PENDING"));
    assertThat(all.pendingByQueue().values().stream().mapToLong(Long::longValue).sum())
        .isEqualTo(all.pending());
    assertThat(all.pendingByQueue().getOrDefault("walk", 0L)).isEqualTo(one.pending());
  }

  private static void assertTypes(TestEngine engine, Map<String, Long> scan) {
    PageSpec page = new PageSpec(100, "", true, false);
    List<TypeView> types = engine.engine().queries().types(NAMESPACE, page).items();

    assertThat(types.stream().mapToLong(TypeView::runs).sum()).isEqualTo(sum(scan, "", ""));
    assertThat(types.stream().mapToLong(TypeView::openRuns).sum())
        .isEqualTo(sum(scan, "", "PENDING") + sum(scan, "", "RUNNING") + sum(scan, "", "SLEEPING"));
    RunFilter failed =
        new RunFilter(
            NAMESPACE,
            Set.of(RunStatus.FAILED),
            TYPE,
            "walk",
            null,
            null,
            "",
            null,
            null,
            null,
            false,
            false);
    assertThat(engine.engine().queries().runs(failed, page).totalCount())
        .isEqualTo(sum(scan, "walk/" + TYPE + "//", "FAILED"));
  }

  private static Map<String, Long> stats(Stats stats) {
    Map<String, Long> sums = new TreeMap<>();
    stats.byStatus().forEach((status, runs) -> put(sums, status.name(), runs));
    stats.byType().forEach((type, runs) -> put(sums, type, runs));
    return sums;
  }

  private static Map<String, Long> sums(Map<String, Long> scan) {
    Map<String, Long> sums = new TreeMap<>();
    scan.forEach(
        (key, runs) -> {
          String[] parts = key.split("/", -1);
          sums.merge(parts[1], runs, Long::sum);
          sums.merge(parts[3], runs, Long::sum);
        });
    return sums;
  }

  private static void put(Map<String, Long> into, String key, long runs) {
    if (runs != 0) {
      into.put(key, runs);
    }
  }

  private static long sum(Map<String, Long> scan, String begin, String end) {
    return scan.entrySet().stream()
        .filter(entry -> entry.getKey().startsWith(begin) && entry.getKey().endsWith(end))
        .mapToLong(Map.Entry::getValue)
        .sum();
  }

  private static Map<String, Long> scan() {
    return counts("count(*)", "workflow_runs");
  }

  private static Map<String, Long> folded() {
    return counts("sum(runs)", "run_counts");
  }

  private static Map<String, Long> counts(String number, String table) {
    Map<String, Long> counts = new TreeMap<>();
    database.run(
        session ->
            session
                .query(
                    """
                    SELECT task_queue || '/' || workflow_type || '/' || version || '/' || status
                             AS key, %s::bigint AS runs
                      FROM kagzi.%s
                     WHERE namespace = 'default'
                     GROUP BY 1
                    """
                        .formatted(number, table))
                .list(
                    row -> {
                      put(counts, row.text("key"), row.bigint("runs"));
                      return true;
                    }));
    return counts;
  }

  private static void fold() {
    database.run(session -> RunCounts.fold(session, 1_000_000));
  }

  @Test
  void a_fold_removes_all_changes_and_keeps_all_counts() {
    try (TestEngine engine = TestEngine.start(database.config(), "fold")) {
      for (int i = 0; i < 30; i++) {
        engine.start();
      }
      Stats before = engine.engine().queries().stats(null);

      fold();

      assertThat(engine.engine().queries().stats(null)).isEqualTo(before);
      await()
          .atMost(Duration.ofSeconds(20))
          .until(
              () ->
                  database.run(
                      session ->
                          session
                              .query("SELECT FROM kagzi.run_changes")
                              .list(row -> true)
                              .isEmpty()));
    }
  }
}
