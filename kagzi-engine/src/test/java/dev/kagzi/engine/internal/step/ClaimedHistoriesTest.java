package dev.kagzi.engine.internal.step;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.value.RecordedStep;
import dev.kagzi.engine.value.RunId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A claim reads short histories with one statement, and gets what the general query returns. */
class ClaimedHistoriesTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final int RUNS = 300;
  private static final int ROWS_MAX = 24;
  private static final List<String> NAMES = List.of("a", "b", "B", "a#2", "c[1]/a", "é");
  private static final List<String> STATUSES = List.of("COMPLETED", "FAILED", "RUNNING");
  private static final List<String> KINDS = List.of("FUNCTION", "SLEEP", "SIGNAL");
  private static final long UNLIMITED = Long.MAX_VALUE;

  private final Random random = new Random(11);

  @Test
  void histories_of_any_length_equal_those_of_the_general_query() {
    Map<RunId, Integer> runs = new HashMap<>();
    for (int i = 0; i < RUNS; i++) {
      RunId run = new RunId(UUID.randomUUID());
      runs.put(run, 1 + random.nextInt(2));
      insert(run, random.nextInt(ROWS_MAX));
    }

    Map<RunId, ClaimedHistories.History> read = read(runs, UNLIMITED, UNLIMITED);

    Map<RunId, List<RecordedStep>> expected =
        database.run(session -> session.inTransaction(tx -> ReadSteps.history(tx, runs)));
    Map<RunId, ReadSteps.Size> sizes =
        database.run(session -> session.inTransaction(tx -> ReadSteps.sizes(tx, runs.keySet())));
    for (RunId run : runs.keySet()) {
      ClaimedHistories.History history = read.getOrDefault(run, ClaimedHistories.History.NONE);
      assertThat(history.recorded())
          .usingRecursiveComparison()
          // How long a wait still lasts differs between two transactions.
          .ignoringFieldsMatchingRegexes(".*remainingMs", ".*delayMs")
          .isEqualTo(expected.getOrDefault(run, List.of()));
      assertThat(history.steps()).isEqualTo(sizes.getOrDefault(run, ReadSteps.Size.NONE).steps());
      assertThat(history.isApart()).isFalse();
    }
  }

  @Test
  void a_history_over_the_limit_of_a_run_is_apart_and_its_steps_are_counted() {
    RunId small = run(3, 10);
    RunId large = run(3, 400);
    RunId none = new RunId(UUID.randomUUID());

    Map<RunId, ClaimedHistories.History> read =
        read(Map.of(small, 1, large, 1, none, 1), 1_000, UNLIMITED);

    assertThat(read.getOrDefault(small, ClaimedHistories.History.NONE).recorded()).hasSize(3);
    assertThat(read.get(large)).isEqualTo(new ClaimedHistories.History(3, List.of(), true));
    assertThat(read).doesNotContainKey(none);
  }

  @Test
  void histories_that_do_not_fit_into_the_common_limit_are_apart() {
    Map<RunId, Integer> runs = new HashMap<>();
    for (int i = 0; i < 5; i++) {
      runs.put(run(4, 900), 1);
      runs.put(run(20, 100), 1);
    }

    assertLimit(runs, 8_000, 13_000, 4, 20);
  }

  @Test
  void short_and_long_histories_share_the_common_limit() {
    Map<RunId, Integer> runs = new HashMap<>();
    for (int i = 0; i < 5; i++) {
      runs.put(run(4, 20_000), 1);
      runs.put(run(12, 400), 1);
    }

    // More than the short histories could need, so they are read without being measured. They take
    // 30,000 bytes, so there is no space left for a long one.
    assertLimit(runs, 30_000, 100_000, 4, 12);
  }

  private static void assertLimit(
      Map<RunId, Integer> runs, long bytesMin, long bytesMax, Integer... stepCounts) {
    Map<RunId, ClaimedHistories.History> read = read(runs, UNLIMITED, bytesMax);

    long bytes =
        read.values().stream()
            .flatMap(history -> history.recorded().stream())
            .mapToLong(step -> output(step) + 100)
            .sum();
    assertThat(read.values()).anyMatch(ClaimedHistories.History::isApart);
    assertThat(bytes).isBetween(bytesMin, bytesMax);
    Set<Integer> steps = new HashSet<>();
    read.values().forEach(history -> steps.add(history.steps()));
    assertThat(steps).containsExactlyInAnyOrder(stepCounts);
  }

  private static long output(RecordedStep step) {
    return ((RecordedStep.Result.Output) step.result()).payload().data().length;
  }

  private static Map<RunId, ClaimedHistories.History> read(
      Map<RunId, Integer> runs, long bytesMax, long allBytesMax) {
    return database.run(
        session ->
            session.inTransaction(tx -> ClaimedHistories.read(tx, runs, bytesMax, allBytesMax)));
  }

  private static RunId run(int steps, int bytes) {
    RunId run = new RunId(UUID.randomUUID());
    List<String> rows = new ArrayList<>();
    for (int i = 0; i < steps; i++) {
      rows.add(row(run, "s" + i, 1, "FUNCTION", "COMPLETED", bytes, 0, 1));
    }
    insert(rows);
    return run;
  }

  /** Creation times are few whole seconds, so that many are equal. */
  private void insert(RunId run, int count) {
    Map<String, String> rows = new HashMap<>();
    boolean hasLargeRow = random.nextInt(8) == 0;
    for (int i = 0; i < count; i++) {
      String step = NAMES.get(random.nextInt(NAMES.size())) + random.nextInt(4);
      int attempt = 1 + random.nextInt(3);
      String kind = KINDS.get(random.nextInt(KINDS.size()));
      String status = STATUSES.get(random.nextInt(STATUSES.size()));
      int bytes = hasLargeRow && i == 0 ? 5_000 : random.nextInt(200);
      rows.put(
          step + attempt,
          row(run, step, attempt, kind, status, bytes, random.nextInt(3), 1 + random.nextInt(2)));
    }
    insert(List.copyOf(rows.values()));
  }

  private static String row(
      RunId run,
      String step,
      int attempt,
      String kind,
      String status,
      int bytes,
      int second,
      int runAttempt) {
    String output = "decode(repeat('78', %d), 'hex')".formatted(bytes);
    return "('%s'::uuid, '%s', %d, 1, %d, '%s', '%s', %s, %s::timestamptz, %s, %s)"
        .formatted(
            run,
            step,
            attempt,
            runAttempt,
            kind,
            status,
            status.equals("COMPLETED") ? output : "NULL::bytea",
            "'2026-01-01 00:00:0" + second + "+00'",
            status.equals("RUNNING")
                ? "NULL::timestamptz"
                : "'2026-01-01 00:01:00+00'::timestamptz",
            kind.equals("SLEEP")
                ? "'20%d6-01-01 00:00:00+00'::timestamptz".formatted(2 + 5 * (second % 2))
                : "NULL::timestamptz");
  }

  private static void insert(List<String> rows) {
    if (!rows.isEmpty()) {
      database.execute(
          """
          INSERT INTO kagzi.step_runs (run_id, step_id, attempt, epoch, run_attempt, kind, status,
                                       output, created_at, finished_at, due_at)
          VALUES %s
          """
              .formatted(String.join(", ", rows)));
    }
  }
}
