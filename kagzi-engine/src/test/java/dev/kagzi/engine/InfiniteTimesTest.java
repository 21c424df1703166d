package dev.kagzi.engine;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.failed;
import static dev.kagzi.engine.TestEngine.payload;
import static dev.kagzi.engine.TestEngine.sleep;
import static dev.kagzi.engine.TestEngine.stepDone;
import static dev.kagzi.engine.TestEngine.stepFailed;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.query.RunFilter;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.schedule.ScheduleView;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.worker.WorkerHeartbeat;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Infinite times: of a run that waits for children, and of a schedule that never fires again.
 * PostgreSQL before 17 cannot subtract them, and no version can convert one to a number. The
 * databases of these tests refuse both, on any version ({@link TestDatabase}).
 */
class InfiniteTimesTest extends FamilyTest {
  private static final Path PROJECT = Path.of("..");

  /** The columns that can be {@code infinity}; a test below searches for others. */
  private static final Set<String> INFINITE =
      Set.of("workflow_runs.available_at", "workflow_runs.fire_at");

  /**
   * A statement that computes with a time that is finite there.
   *
   * @param beginning how the statement begins, as {@link #plain} returns it
   * @param reason why the time is finite
   */
  private record Finite(String file, String beginning, String reason) {
    boolean covers(String name, String sql) {
      return name.equals(file) && sql.strip().startsWith(beginning);
    }
  }

  private static final List<Finite> FINITE =
      List.of(
          new Finite(
              "ScheduleTemplates.java",
              "SELECT run_id, cron_expr, time_zone, overlap_policy, max_catchup, jitter_ms,"
                  + " extract(epoch FROM fire_at)::bigint AS next_slot,",
              "locks schedules that are due: these have a next slot"),
          new Finite(
              "ScheduleTemplates.java",
              "SELECT floor(extract(epoch FROM available_at))::bigint AS due_second,",
              "reads schedules that are due: available_at <= kagzi.clock()"),
          new Finite(
              "ScheduleRules.java",
              "SELECT schedule_id::text, extract(epoch FROM fire_at)::bigint,",
              "reads runs of schedules: their fire_at is their slot"),
          new Finite(
              "ScheduleBench.java",
              "WITHIN GROUP (ORDER BY extract(epoch FROM created_at - fire_at))",
              "reads runs of schedules: their fire_at is their slot"));

  private static final Pattern TEXT_BLOCK = Pattern.compile("\"\"\"\\R(.*?)\"\"\"", Pattern.DOTALL);
  private static final Pattern STRINGS =
      Pattern.compile("\"(?:[^\"\\\\\\n]|\\\\.)*\"(?:\\s*\\+\\s*\"(?:[^\"\\\\\\n]|\\\\.)*\")*");

  private static final RunFilter ALL_RUNS =
      new RunFilter(
          NAMESPACE, Set.of(), null, null, null, null, null, null, null, null, false, false);

  private interface Operation {
    void run() throws Exception;
  }

  @Test
  void every_operation_works_while_a_run_waits_for_children() {
    RunId parent = engine.start();
    Claim former = engine.claimOne(worker).claim();
    engine.report(child(former, "a"));
    engine.report(TestReports.awaited(former, List.of("a"), true, null));
    RunId slow = engine.start();
    Claim held = claim(slow);
    ScheduleView schedule = neverAgain();
    assertThat(availableAt(parent)).isEqualTo("infinity");
    assertThat(availableAt(schedule.id())).isEqualTo("infinity");

    List<String> failures = new ArrayList<>();
    operations(parent, former, held, schedule.id())
        .forEach(
            (name, operation) -> {
              try {
                operation.run();
              } catch (Refusal refused) {
                // A lost claim or a run that has not ended is expected; a refusal by the database
                // is not.
                if (refused.reason() == Refusal.Reason.INTERNAL
                    || String.valueOf(refused.getMessage()).contains("SQLSTATE")) {
                  failures.add(name + ": " + refused.getMessage());
                }
              } catch (Exception e) {
                failures.add(name + ": " + e);
              }
            });

    assertThat(failures).isEmpty();
    assertThat(columnsWithInfinity()).isSubsetOf(INFINITE);
  }

  private Map<String, Operation> operations(
      RunId parent, Claim former, Claim held, RunId schedule) {
    Engine e = engine.engine();
    Map<String, Operation> all = new LinkedHashMap<>();
    List<Claim> both = List.of(former, held);
    all.put("heartbeat that lists it", () -> heartbeat(both));
    all.put("heartbeat that lists nothing", () -> heartbeat(List.of()));
    all.put("heartbeat of a simple client", () -> heartbeat(null));
    all.put("poll", () -> engine.poll(worker, 1).cancel());
    all.put("history", () -> e.tasks().history(NAMESPACE, former, page -> {}));
    all.put("step done late", () -> engine.report(stepDone(former, "b", "1")));
    all.put("step failed late", () -> engine.report(stepFailed(former, "b", 1, null)));
    all.put("sleep late", () -> engine.report(sleep(former, "nap", 10)));
    all.put(
        "wait late", () -> engine.report(TestReports.awaited(former, List.of("a"), true, null)));
    all.put("child late", () -> engine.report(child(former, "b")));
    all.put("done late", () -> engine.report(done(former, "1")));
    all.put("failed late", () -> engine.report(failed(former, "1")));
    all.put("released late", () -> engine.report(new Report.Released(former, 0, null)));
    all.put("get", () -> engine.run(parent));
    all.put("explain", () -> e.queries().explain(NAMESPACE, parent));
    all.put("explain running", () -> e.queries().explain(NAMESPACE, held.runId()));
    all.put("explain schedule", () -> e.queries().explain(NAMESPACE, schedule));
    all.put("list", () -> e.queries().runs(ALL_RUNS, PageSpec.FIRST));
    all.put("stats", () -> e.queries().stats(NAMESPACE));
    all.put("depth", () -> e.queries().depth(NAMESPACE, queue));
    all.put("types", () -> e.queries().types(NAMESPACE, PageSpec.FIRST));
    all.put("health", () -> e.queries().health(NAMESPACE));
    all.put("retry", () -> await(e.runs().retry(NAMESPACE, parent, null, null)));
    all.put("chores", e::clockMoved);
    all.put("stale workers", () -> e.workers().recovery().releaseStale());
    all.put("orphaned claims", () -> e.workers().recovery().releaseOrphaned());
    all.put("schedule get", () -> e.schedules().get(NAMESPACE, schedule));
    all.put("schedule pause", () -> e.schedules().setEnabled(NAMESPACE, schedule, false, null));
    all.put("schedule resume", () -> e.schedules().setEnabled(NAMESPACE, schedule, true, null));
    all.put("schedule trigger", () -> e.scheduleStarts().trigger(NAMESPACE, schedule, null));
    all.put(
        "schedule backfill",
        () -> e.scheduleStarts().backfill(NAMESPACE, schedule, Instant.EPOCH, Instant.EPOCH, null));
    all.put("drain", () -> await(e.workers().drain(NAMESPACE, worker)));
    all.put("heartbeat while draining", () -> heartbeat(both));
    all.put("offline", () -> await(e.workers().forceOffline(NAMESPACE, worker, "test", null)));
    all.put("cancel", () -> await(e.runs().cancel(NAMESPACE, parent)));
    all.put("schedule delete", () -> e.schedules().delete(NAMESPACE, schedule, null));
    return all;
  }

  private void heartbeat(@Nullable List<Claim> claims) {
    await(
        engine
            .engine()
            .workers()
            .heartbeat(new WorkerHeartbeat(worker, claims, 1, 0, 0, null, 0, 0)));
  }

  private Claim claim(RunId run) {
    while (true) {
      Claim claim = engine.claimOne(worker).claim();
      if (claim.runId().equals(run)) {
        return claim;
      }
    }
  }

  private static Report child(Claim claim, String step) {
    StartRequest start =
        new StartRequest(NAMESPACE, "", "", TYPE, "", payload("1"), null, null, StartOptions.NONE);
    return new Report.ChildStarted(claim, step, 1, start, false);
  }

  private ScheduleView neverAgain() {
    ScheduleView schedule =
        engine
            .engine()
            .schedules()
            .create(
                TestSchedules.creation(
                    NAMESPACE, TestSchedules.spec("never", queue, TYPE, "0 0 1 1 *")));
    database.execute(
        "UPDATE kagzi.workflow_runs SET available_at = 'infinity', fire_at = 'infinity'"
            + " WHERE run_id = '"
            + schedule.id()
            + "'");
    return schedule;
  }

  private String availableAt(RunId run) {
    return stored.text(
        "SELECT available_at::text AS value FROM kagzi.workflow_runs WHERE run_id = '" + run + "'");
  }

  /** Returns every column that contains an infinite time now. */
  private Set<String> columnsWithInfinity() {
    Set<String> found = new TreeSet<>();
    List<String> columns =
        database.run(
            session ->
                session
                    .query(
                        """
                        SELECT table_name || '.' || column_name AS name
                          FROM information_schema.columns
                         WHERE table_schema = 'kagzi' AND data_type = 'timestamp with time zone'
                        """)
                    .list(row -> row.text("name")));
    for (String column : columns) {
      String[] parts = column.split("\\.", 2);
      if (stored.count(
              "SELECT count(*) AS value FROM kagzi.%s WHERE NOT isfinite(%s)"
                  .formatted(parts[0], parts[1]))
          > 0) {
        found.add(column);
      }
    }
    return found;
  }

  @Test
  void no_statement_computes_with_a_time_that_may_be_infinite() throws IOException {
    List<Computation> found = new ArrayList<>();
    for (Path file : sources()) {
      found.addAll(computations(file.getFileName().toString(), Files.readString(file)));
    }

    assertThat(found.stream().filter(Computation::mayFail))
        .as("compare times, or leave infinite ones out: %s < 'infinity'", INFINITE)
        .isEmpty();
    // Check that the search finds known statements, in every module and both ways to write one.
    assertThat(found)
        .extracting(Computation::file)
        .contains("ClaimRuns.java", "LockRuns.java", "ServerHeartbeat.java", "TestDatabase.java");
    assertThat(FINITE)
        .allSatisfy(
            finite ->
                assertThat(found.stream().filter(c -> finite.covers(c.file, c.sql)))
                    .as("%s", finite)
                    .hasSize(1));
  }

  @Test
  void an_exception_is_made_for_a_statement_and_not_for_its_file() {
    String file = "ScheduleTemplates.java";

    assertThat(computations(file, "String SQL = \"SELECT extract(epoch FROM t.fire_at) FROM t\";"))
        .singleElement()
        .matches(Computation::mayFail);
    assertThat(
            computations(
                file,
                "String SQL = \"SELECT floor(extract(epoch FROM t.available_at))::bigint"
                    + " AS due_second, 1\";"))
        .singleElement()
        .matches(computation -> !computation.mayFail());
  }

  /** A statement that computes with a column that can be infinite. */
  private record Computation(String file, String column, String sql) {
    boolean mayFail() {
      return !isGuarded(sql, column) && FINITE.stream().noneMatch(f -> f.covers(file, sql));
    }
  }

  private static List<Computation> computations(String file, String source) {
    List<Computation> found = new ArrayList<>();
    for (String sql : statements(source, file)) {
      for (String column : List.of("available_at", "fire_at")) {
        if (computesWith(sql, column)) {
          found.add(new Computation(file, column, sql));
        }
      }
    }
    return found;
  }

  private static List<Path> sources() throws IOException {
    try (Stream<Path> files = Files.walk(PROJECT)) {
      return files
          .filter(path -> path.toString().matches(".*/src/main/.*\\.(java|sql)"))
          .filter(path -> !path.toString().contains("/target/"))
          .sorted()
          .toList();
    }
  }

  private static List<String> statements(String source, String file) {
    if (file.endsWith(".sql")) {
      return Stream.of(source.split(";")).map(InfiniteTimesTest::plain).toList();
    }
    List<String> all = new ArrayList<>();
    Matcher block = TEXT_BLOCK.matcher(source);
    block.results().forEach(result -> all.add(plain(result.group(1))));
    Matcher strings = STRINGS.matcher(block.replaceAll(""));
    strings
        .results()
        .forEach(result -> all.add(plain(result.group().replaceAll("\"\\s*\\+\\s*\"|\"", ""))));
    return all;
  }

  /** Normalizes a statement: one line, without table aliases, min(column) as column. */
  private static String plain(String sql) {
    return sql.replaceAll("\\s+", " ")
        .replaceAll("\\b(?!kagzi\\.)\\w+\\.(\\w+)", "$1")
        .replaceAll("\\b(?:min|max)\\((\\w+)\\)", "$1");
  }

  private static boolean computesWith(String sql, String column) {
    return Pattern.compile(
            "\\b%1$s [-+] |[-+] %1$s\\b|\\b(?:extract|age|date_part|date_trunc)\\([^)]*\\b%1$s\\b"
                .formatted(column))
        .matcher(sql)
        .find();
  }

  private static boolean isGuarded(String sql, String column) {
    return Stream.of(
            column + " < 'infinity'",
            "WHEN " + column + " = 'infinity' THEN",
            "nullif(" + column + ", 'infinity')")
        .anyMatch(sql::contains);
  }
}
