package dev.kagzi.engine.dispatch;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.stepDone;
import static dev.kagzi.engine.TestEngine.stepFailed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.CutProxy;
import dev.kagzi.engine.Stored;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.RecordedStep;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.WorkerId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A large history is fetched in pages; each is read after the previous one was accepted. */
class HistoryTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final int PAGE_BYTES_MAX = 1 << 20;
  private static final int PAGE_STEPS_MAX = 1_000;
  private static final String SELECTED = "SELECT ";

  private final Stored stored = new Stored(database);
  private final List<Integer> rows = new CopyOnWriteArrayList<>();
  private CutProxy proxy;
  private TestEngine engine;
  private WorkerId worker;
  private Claim claim;

  @BeforeEach
  void open(TestInfo test) {
    proxy = new CutProxy(database.config());
    engine = TestEngine.start(proxy.config(), test.getTestMethod().orElseThrow().getName());
    worker = engine.register();
    engine.start();
    claim = engine.claimOne(worker).claim();
  }

  @AfterEach
  void close() {
    engine.close();
    proxy.close();
  }

  /** Inserts steps; {@code bytes} is an SQL expression for the size of the i-th. */
  private void record(int steps, String bytes) {
    database.execute(
        """
        INSERT INTO kagzi.step_runs (run_id, step_id, attempt, epoch, run_attempt, kind, status,
                                     output, created_at)
        SELECT '%s', 'step-' || i, 1, 1, 1, 'FUNCTION', 'COMPLETED',
               decode(repeat('78', %s), 'hex'), kagzi.clock()
          FROM generate_series(1, %d) i
        """
            .formatted(claim.runId(), bytes, steps));
  }

  private List<List<RecordedStep>> pages() {
    List<List<RecordedStep>> pages = new ArrayList<>();
    proxy.listen(
        tag -> {
          if (tag.startsWith(SELECTED)) {
            rows.add(Integer.parseInt(tag.substring(SELECTED.length())));
          }
        });
    engine
        .engine()
        .tasks()
        .history(
            NAMESPACE,
            claim,
            page -> {
              pages.add(page);
              assertThat(pages.size()).as("pages").isLessThan(1_000);
            });
    return pages;
  }

  private static Set<String> keys(int steps) {
    Set<String> keys = new HashSet<>();
    for (int i = 1; i <= steps; i++) {
      keys.add("step-" + i);
    }
    return keys;
  }

  private static int bytes(List<RecordedStep> page) {
    return page.stream().mapToInt(RecordedStep::bytes).sum();
  }

  @Test
  void large_steps_come_in_pages_of_few_rows_and_none_is_lost_or_repeated() {
    record(400, "100 * 1024");

    List<List<RecordedStep>> pages = pages();

    assertThat(pages.stream().flatMap(List::stream).map(RecordedStep::stepKey))
        .hasSize(400)
        .hasSameElementsAs(keys(400));
    assertThat(pages).extracting(HistoryTest::bytes).allMatch(bytes -> bytes <= PAGE_BYTES_MAX);
    assertThat(pages).hasSizeLessThan(50);
    // No statement returned more than one page.
    assertThat(rows).contains(10).allMatch(count -> count <= 10);
  }

  @Test
  void a_step_that_is_larger_than_a_page_comes_alone() {
    record(5, "CASE WHEN i % 2 = 1 THEN 2 * 1024 * 1024 - 1000 ELSE 10 END");

    List<List<RecordedStep>> pages = pages();

    assertThat(pages).extracting(List::size).containsExactly(1, 1, 1, 1, 1);
    assertThat(pages.stream().flatMap(List::stream).map(RecordedStep::stepKey))
        .containsExactlyInAnyOrderElementsOf(keys(5));
  }

  /** The progress of failed steps is part of the history and of its size. */
  @Test
  void progress_counts_in_pages_and_keeps_a_history_out_of_its_task() {
    record(20, "10");
    database.execute(
        """
        UPDATE kagzi.step_runs
           SET status = 'FAILED', progress = decode(repeat('78', 1000 * 1000), 'hex')
         WHERE run_id = '%s'
        """
            .formatted(claim.runId()));

    assertThat(pages()).extracting(List::size).allMatch(size -> size == 1);
    stored.expireLease(claim.runId());
    Task again = engine.claimOne(worker);
    assertThat(again.historyApart()).isTrue();
    assertThat(again.steps()).isEmpty();
  }

  @Test
  void small_steps_come_in_pages_of_a_thousand() {
    record(2_500, "10");

    List<List<RecordedStep>> pages = pages();

    assertThat(pages).extracting(List::size).containsExactly(PAGE_STEPS_MAX, PAGE_STEPS_MAX, 500);
    assertThat(pages.stream().flatMap(List::stream).map(RecordedStep::stepKey))
        .hasSize(2_500)
        .hasSameElementsAs(keys(2_500));
    assertThat(rows).allMatch(count -> count <= PAGE_STEPS_MAX);
  }

  @Test
  void each_step_comes_with_its_last_attempt() {
    RetryPolicy quickly = new RetryPolicy(5, 1, 1, 1, 0, List.of());
    engine.report(stepFailed(claim, "a", 1, quickly));
    engine.report(stepDone(claim, "a", 2, "1"));
    engine.report(stepDone(claim, "b", "2"));
    engine.report(stepFailed(claim, "c", 1, quickly));
    engine.report(stepFailed(claim, "c", 2, quickly));

    List<RecordedStep> steps = pages().stream().flatMap(List::stream).toList();

    assertThat(steps).extracting(RecordedStep::stepKey).containsExactly("a", "b", "c");
    assertThat(steps).extracting(RecordedStep::attempt).containsExactly(2, 1, 2);
    assertThat(steps.get(2).result()).isInstanceOf(RecordedStep.Result.Retry.class);
  }

  @Test
  void steps_come_with_the_claim_that_recorded_them_and_in_its_order() {
    engine.report(stepDone(claim, "z", "1"));
    engine.report(stepDone(claim, "a", "2"));
    engine.report(new Report.Released(claim, 0, null));
    Task again = engine.claimOne(worker);
    claim = again.claim();

    List<RecordedStep> apart = pages().stream().flatMap(List::stream).toList();

    assertThat(apart).hasSameElementsAs(again.steps());
    assertThat(again.steps()).extracting(RecordedStep::stepKey).containsExactly("z", "a");
    List<RecordedStep.Place> places = again.steps().stream().map(RecordedStep::place).toList();
    assertThat(places).extracting(RecordedStep.Place::epoch).containsExactly(1, 1);
    assertThat(places.get(0).recordedUs()).isLessThan(places.get(1).recordedUs());
  }

  @Test
  void a_run_without_steps_has_no_pages() {
    assertThat(pages()).isEmpty();
  }

  /** A slow reader may lose its claim; then it gets no more pages. */
  @Test
  void a_claim_that_is_lost_between_two_pages_is_refused() {
    record(30, "100 * 1024");
    List<List<RecordedStep>> pages = new ArrayList<>();

    assertThatThrownBy(
            () ->
                engine
                    .engine()
                    .tasks()
                    .history(
                        NAMESPACE,
                        claim,
                        page -> {
                          pages.add(page);
                          loseClaim();
                        }))
        .isInstanceOfSatisfying(
            Refusal.class, refusal -> assertThat(refusal.code()).isEqualTo(Refusal.Code.CLAIM_LOST))
        .hasMessageContaining("claim lost (epoch 1)");
    assertThat(pages).hasSize(1);
  }

  private void loseClaim() {
    if (engine.run(claim.runId()).epoch() == claim.epoch()) {
      stored.expireLease(claim.runId());
      assertThat(engine.claimOne(worker).claim()).isEqualTo(new Claim(claim.runId(), 2));
    }
  }

  @Test
  void a_claim_that_was_never_held_is_refused() {
    RunId run = claim.runId();
    record(1, "10");

    assertRefused(NAMESPACE, new Claim(run, 2));
    assertRefused(NAMESPACE, new Claim(RunId.next(), 1));
    assertRefused("another", claim);
    await(engine.engine().runs().cancel(NAMESPACE, run));
    assertRefused(NAMESPACE, claim);
  }

  private void assertRefused(String namespace, Claim wrong) {
    List<List<RecordedStep>> pages = new ArrayList<>();

    assertThatThrownBy(() -> engine.engine().tasks().history(namespace, wrong, pages::add))
        .isInstanceOf(Refusal.class);
    assertThat(pages).isEmpty();
  }
}
