package dev.kagzi.cli;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.postgres.EmbeddedPostgres;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.WorkflowType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Servers of two versions on one database, as real processes. The older one is the current code;
 * the newer one has one more migration, of a kind that is allowed.
 */
@Timeout(180)
class UpgradeProcessTest {

  private static final Duration SOON = Duration.ofSeconds(60);
  private static final int RUNS = 5;

  private static final String MIGRATION =
      """
      ALTER TABLE kagzi.workflow_runs ADD COLUMN future text, ADD COLUMN later int DEFAULT 7;
      ALTER TABLE kagzi.workflow_payloads ADD COLUMN future text;
      ALTER TABLE kagzi.step_runs ADD COLUMN future text NOT NULL DEFAULT 'none';
      ALTER TABLE kagzi.run_messages ADD COLUMN future text;
      ALTER TABLE kagzi.run_changes ADD COLUMN future text;
      ALTER TABLE kagzi.workers ADD COLUMN future text;
      ALTER TABLE kagzi.namespaces ADD COLUMN future boolean NOT NULL DEFAULT false;
      ALTER TABLE kagzi.servers ADD COLUMN future text;
      CREATE TABLE kagzi.future (run_id uuid PRIMARY KEY);
      CREATE INDEX ON kagzi.workflow_runs (later) WHERE future IS NOT NULL;
      """;

  private static final WorkflowType<String, String> HELD =
      WorkflowType.of("held", String.class, String.class).queue("upgrade");

  private static final WorkflowType<String, String> ASLEEP =
      WorkflowType.of("asleep", String.class, String.class).queue("upgrade");

  @TempDir Path folder;

  private final Map<String, Integer> executions = new ConcurrentHashMap<>();
  private final CountDownLatch inside = new CountDownLatch(RUNS);
  private final CountDownLatch migrated = new CountDownLatch(1);

  @Test
  void an_older_server_keeps_running_after_a_newer_one_migrates_but_no_older_one_starts()
      throws Exception {
    try (EmbeddedPostgres postgres =
        EmbeddedPostgres.builder().dataDir(folder.resolve("data")).start()) {
      postgres.createDatabase("kagzi");
      Map<String, String> environment =
          Map.of(
              "KAGZI_DB_URL", postgres.jdbcUrl("kagzi"),
              "KAGZI_DB_USER", postgres.user(),
              "KAGZI_DB_PASSWORD", postgres.password(),
              "KAGZI_SERVER_PORT", "0",
              "KAGZI_HTTP_PORT", "0");
      try (KagziProcess older = KagziProcess.start(folder, environment, "server");
          Kagzi viaOlder = Kagzi.connect("localhost:" + older.awaitReady().grpcPort())) {
        work(viaOlder);
        List<RunHandle<String>> runs = new ArrayList<>();
        start(viaOlder, "before", runs);
        assertThat(inside.await(60, TimeUnit.SECONDS)).isTrue();

        try (KagziProcess newer =
                KagziProcess.start(newerClasses(), folder, environment, "server");
            Kagzi viaNewer = Kagzi.connect("localhost:" + newer.awaitReady().grpcPort())) {
          migrated.countDown();
          work(viaNewer);
          start(viaOlder, "at the older one", runs);
          start(viaNewer, "at the newer one", runs);

          // Each server returns the results of all runs.
          for (RunHandle<String> run : runs) {
            assertThat(viaNewer.run(run.runId(), HELD).result(SOON)).isEqualTo(run.result(SOON));
          }
          assertThat(executions).hasSize(4 * 3 * RUNS).values().containsOnly(1);
          refuseOld(environment);

          older.terminate();
          assertThat(older.awaitExit()).as(older.errors()).isZero();
          assertThat(viaNewer.workflow(ASLEEP).start("alone").result(SOON)).isEqualTo("b of alone");
        }
      }
    }
  }

  private void refuseOld(Map<String, String> environment) throws Exception {
    try (KagziProcess late = KagziProcess.start(folder, environment, "server")) {
      assertThat(late.awaitExit()).isEqualTo(1);
      assertThat(late.errors().lines())
          .singleElement()
          .asString()
          .matches("kagzi: database schema: version 1000 \\(expected: version \\d+.*");
    }
  }

  private void work(Kagzi kagzi) {
    kagzi
        .worker()
        .workflow(
            HELD,
            (ctx, name) -> {
              ctx.step("a", String.class, () -> held(name));
              return ctx.step("b", String.class, () -> execute("b", name));
            })
        .workflow(
            ASLEEP,
            (ctx, name) -> {
              ctx.step("a", String.class, () -> execute("a", name));
              ctx.sleep("nap", "2s");
              return ctx.step("b", String.class, () -> execute("b", name));
            })
        .start();
  }

  private static void start(Kagzi kagzi, String when, List<RunHandle<String>> runs) {
    for (int i = 0; i < RUNS; i++) {
      runs.add(kagzi.workflow(HELD).start("held %d %s".formatted(i, when)));
      runs.add(kagzi.workflow(ASLEEP).start("asleep %d %s".formatted(i, when)));
    }
  }

  private String held(String name) throws InterruptedException {
    inside.countDown();
    assertThat(migrated.await(90, TimeUnit.SECONDS)).isTrue();
    return execute("a", name);
  }

  private String execute(String step, String name) {
    String what = step + " of " + name;
    executions.merge(what, 1, Integer::sum);
    return what;
  }

  private Path newerClasses() throws IOException {
    Path classes = folder.resolve("newer");
    Path place = classes.resolve("dev/kagzi/engine/migration/V1000__future.sql");
    Files.createDirectories(requireNonNull(place.getParent()));
    Files.writeString(place, MIGRATION);
    return classes;
  }
}
