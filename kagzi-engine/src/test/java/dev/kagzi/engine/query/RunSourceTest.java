package dev.kagzi.engine.query;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class RunSourceTest {
  private static final Instant TIME = Instant.parse("2026-03-01T12:00:00Z");

  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private final Rows rows = new Rows(database);
  private final String namespace = "ns-" + UUID.randomUUID();

  @Test
  void lists_by_kind_and_by_time_are_the_same() {
    int minute = 0;
    for (String type : List.of("a", "b")) {
      for (String queue : List.of("q", "r")) {
        for (String version : List.of("", "2")) {
          for (RunStatus status :
              List.of(RunStatus.COMPLETED, RunStatus.PENDING, RunStatus.FAILED)) {
            rows.insert(
                Rows.Run.of(namespace, TIME.plusSeconds(60L * minute++))
                    .type(type)
                    .queue(queue)
                    .version(version)
                    .status(status));
          }
        }
      }
    }

    for (String type : new String[] {"a", "nothing", null}) {
      for (String queue : new String[] {"q", null}) {
        for (String version : new String[] {"2", null}) {
          for (Set<RunStatus> statuses :
              List.of(
                  Set.<RunStatus>of(),
                  Set.of(RunStatus.PENDING),
                  Set.of(RunStatus.FAILED, RunStatus.COMPLETED))) {
            RunFilter filter = filter(type, queue, version, statuses);
            assertThat(ids(choose(filter)))
                .as(filter.toString())
                .isEqualTo(ids(RunSource.byTime(filter)));
          }
        }
      }
    }
    assertThat(ids(choose(filter("a", null, null, Set.of())))).hasSize(12);
    assertThat(choose(filter("a", "q", null, Set.of())).kinds())
        .containsExactlyInAnyOrder(
            new RunSource.Kind("a", "q", "", 3), new RunSource.Kind("a", "q", "2", 3));
    assertThat(choose(filter("nothing", null, null, Set.of())).kinds()).isEmpty();
  }

  @Test
  void kinds_with_many_runs_are_read_by_time() {
    insertCount("many", "", 9_999);
    rows.insert(Rows.Run.of(namespace, TIME).type("many"));
    assertThat(choose(filter("many", null, null, Set.of())).kinds()).hasSize(1);

    rows.insert(Rows.Run.of(namespace, TIME).type("many"));
    assertThat(choose(filter("many", null, null, Set.of())).kinds()).isNull();
    assertThat(choose(RunFilter.all(namespace)).kinds()).isNull();
  }

  @Test
  void more_than_a_hundred_kinds_are_read_by_time() {
    for (int i = 0; i < 100; i++) {
      insertCount("versions", "v" + i, 1);
    }
    assertThat(choose(filter("versions", null, null, Set.of())).kinds()).hasSize(100);

    insertCount("versions", "v100", 1);
    assertThat(choose(filter("versions", null, null, Set.of())).kinds()).isNull();
  }

  @Test
  void few_runs_are_listed_newest_first() {
    List<RunId> newestFirst = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      newestFirst.addFirst(
          rows.insert(
              Rows.Run.of(namespace, TIME.plusSeconds(i)).type("few").status(RunStatus.COMPLETED)));
    }
    RunSource few = choose(filter("few", null, null, Set.of()));

    assertThat(few.kinds()).hasSize(1);
    assertThat(ids(few)).isEqualTo(newestFirst);
  }

  private void insertCount(String type, String version, int runs) {
    database.execute(
        """
        INSERT INTO kagzi.run_counts (namespace, workflow_type, task_queue, version, status, runs)
        VALUES ('%s', '%s', 'q', '%s', 'COMPLETED', %d)
        """
            .formatted(namespace, type, version, runs));
  }

  private RunFilter filter(
      @Nullable String type,
      @Nullable String queue,
      @Nullable String version,
      Set<RunStatus> statuses) {
    return new RunFilter(
        namespace, statuses, type, queue, null, null, version, null, null, null, false, false);
  }

  private static RunSource choose(RunFilter filter) {
    return database.open().read(session -> RunSource.choose(session, filter));
  }

  private static List<RunId> ids(RunSource source) {
    return database
        .open()
        .read(
            session ->
                RunQueries.list(source, null, true, 100, PageByteLimits.of(PageSpec.FIRST))
                    .on(session)
                    .list(row -> row.runId("run_id")));
  }
}
