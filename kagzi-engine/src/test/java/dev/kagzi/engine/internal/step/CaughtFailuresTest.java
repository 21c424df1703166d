package dev.kagzi.engine.internal.step;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The query that sorts the steps of a run finds the same failures as a comparison of all pairs. */
class CaughtFailuresTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final int RUNS = 400;
  private static final int STEPS = 14;
  private static final List<String> NAMES = List.of("a", "b", "a#2");

  private static final String SORTED =
      """
      SELECT concat_ws(' ', n.run_id, s.step_id, s.attempt, s.is_last, s.caught) AS value
        FROM (SELECT DISTINCT run_id FROM kagzi.step_runs) AS n
       CROSS JOIN LATERAL (
      """
          + CaughtFailures.UNCOMPLETED_STEPS
          + """
             ) AS s
      """;

  private static final String ALL_PAIRS =
      """
      SELECT concat_ws(' ', c.run_id, c.step_id, c.attempt,
                       NOT EXISTS (SELECT 1 FROM kagzi.step_runs s
                                    WHERE s.run_id = c.run_id AND s.step_id = c.step_id
                                      AND s.attempt > c.attempt),
                       c.final AND c.status = 'FAILED' AND EXISTS (
                         SELECT 1 FROM kagzi.step_runs s
                          WHERE s.run_id = c.run_id AND s.run_attempt <= c.run_attempt
                            AND s.started_at > c.finished_at
                            AND kagzi.failure_was_handled(c.step_id, s.step_id))) AS value
        FROM kagzi.step_runs c
       WHERE c.status <> 'COMPLETED'
      """;

  @Test
  void a_failure_was_caught_if_a_later_step_outside_of_parallel_branches_followed() {
    Random random = new Random(7);
    for (int run = 0; run < RUNS; run++) {
      insert(UUID.randomUUID(), random);
    }

    List<String> found = read(SORTED);

    assertThat(found).containsExactlyInAnyOrderElementsOf(read(ALL_PAIRS));
    assertThat(found.stream().filter(step -> step.endsWith(" t")).count())
        .as("caught of %d", found.size())
        .isBetween(found.size() / 10L, found.size() * 9L / 10);
  }

  private static List<String> read(String sql) {
    return database.run(session -> session.query(sql).list(row -> row.text("value")));
  }

  /** Times are few whole seconds, so that many are equal. Some steps have not started. */
  private static void insert(UUID run, Random random) {
    List<String> rows = new ArrayList<>();
    for (int i = 0; i < STEPS; i++) {
      int attempt = 1 + random.nextInt(3);
      int start = random.nextInt(4 * attempt);
      String status = List.of("FAILED", "FAILED", "COMPLETED", "RUNNING").get(random.nextInt(4));
      boolean isFinal = status.equals("FAILED") && random.nextInt(4) > 0;
      rows.add(
          "('%s'::uuid, '%s', %d, 1, %d, 'FUNCTION', '%s', %s, now(), %s, %s)"
              .formatted(
                  run,
                  key(random),
                  1 + random.nextInt(2),
                  attempt,
                  status,
                  isFinal,
                  random.nextInt(8) == 0 ? "NULL::timestamptz" : time(start),
                  status.equals("RUNNING")
                      ? "NULL::timestamptz"
                      : time(start + random.nextInt(4))));
    }
    database.execute(
        """
        INSERT INTO kagzi.step_runs (run_id, step_id, attempt, epoch, run_attempt, kind, status,
                                     final, created_at, started_at, finished_at)
        VALUES %s ON CONFLICT DO NOTHING
        """
            .formatted(String.join(", ", rows)));
  }

  private static String time(int second) {
    return "'2026-01-01 00:00:00Z'::timestamptz + %d * interval '1 second'".formatted(second);
  }

  /** Keys such as "a", "a[0]/b", "a[0]/b[1]/a#2", and "a/b" of a simple client. */
  private static String key(Random random) {
    StringBuilder key = new StringBuilder();
    for (int level = random.nextInt(3); level > 0; level--) {
      key.append(NAMES.get(random.nextInt(NAMES.size())));
      key.append(random.nextInt(8) == 0 ? "/" : "[" + random.nextInt(2) + "]/");
    }
    return key.append(NAMES.get(random.nextInt(NAMES.size()))).toString();
  }
}
