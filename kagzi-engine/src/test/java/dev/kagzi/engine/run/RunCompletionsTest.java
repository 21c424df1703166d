package dev.kagzi.engine.run;

import static dev.kagzi.engine.TestEngine.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.CutProxy;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Callers that await a run are notified even if the server message was lost. */
class RunCompletionsTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final String SELECTED = "SELECT ";
  private static final int READ_MAX = 1_000;

  private CutProxy proxy;
  private TestEngine engine;

  @BeforeEach
  void open(TestInfo test) {
    proxy = new CutProxy(database.config());
    engine = TestEngine.start(proxy.config(), test.getTestMethod().orElseThrow().getName());
  }

  @AfterEach
  void close() {
    engine.close();
    proxy.close();
  }

  private List<RunId> start(int count) {
    List<StartRequest> requests =
        IntStream.range(0, count).mapToObj(i -> engine.request("", null)).toList();
    return engine.engine().runs().startAll(requests).stream()
        .map(start -> await(start).runId())
        .toList();
  }

  /** Ends the runs like a server that crashed before it could publish the completions. */
  private static void endWithoutServerMessage(List<RunId> runs) {
    int ended =
        database.run(
            session ->
                session
                    .query(
                        """
                        UPDATE kagzi.workflow_runs
                           SET status = 'COMPLETED', available_at = NULL, ended = run_id,
                               finished_at = kagzi.clock()
                         WHERE run_id = ANY (?::uuid[])
                        """)
                    .bindUuids(runs, RunId::value)
                    .update());
    assertThat(ended).isEqualTo(runs.size());
  }

  @Test
  void more_completions_than_one_statement_reads_are_all_found() {
    List<RunId> runs = start(2_600);
    List<Integer> rows = new CopyOnWriteArrayList<>();
    proxy.listen(
        tag -> {
          if (tag.startsWith(SELECTED)) {
            rows.add(Integer.parseInt(tag.substring(SELECTED.length())));
          }
        });

    List<CompletableFuture<Optional<RunEnd>>> completions = runs.stream().map(engine::end).toList();
    endWithoutServerMessage(runs.subList(0, 1_300));
    List<RunStatus> ends =
        completions.subList(0, 1_300).stream()
            .map(end -> await(end).orElseThrow().status())
            .toList();

    assertThat(ends).hasSize(1_300).containsOnly(RunStatus.COMPLETED);
    assertThat(completions.subList(1_300, 2_600)).noneMatch(CompletableFuture::isDone);
    assertThat(rows).contains(READ_MAX).allMatch(count -> count <= READ_MAX);
  }

  @Test
  void a_lost_completion_is_found_although_there_is_always_another_run_to_read() {
    RunId run = engine.start();
    CompletableFuture<Optional<RunEnd>> completions = engine.end(run);
    endWithoutServerMessage(List.of(run));

    long begun = System.nanoTime();
    int read = 0;
    while (!completions.isDone() && System.nanoTime() - begun < Duration.ofSeconds(8).toNanos()) {
      assertThat(await(engine.end(RunId.next()))).isEmpty();
      read++;
    }

    assertThat(completions).as("after %d others", read).isDone();
    assertThat(await(completions).orElseThrow().status()).isEqualTo(RunStatus.COMPLETED);
  }
}
