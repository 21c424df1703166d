package dev.kagzi.engine.transition;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.failed;
import static dev.kagzi.engine.TestEngine.payload;
import static dev.kagzi.engine.TestEngine.sleep;
import static dev.kagzi.engine.TestEngine.stepDone;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.Stored;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.query.PublishedView;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.PublishedValue;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Published values: which one a run shows, and which reports change it. */
class PublishedTest extends EngineFixture {
  private Claim startAndClaim() {
    engine.start();
    return engine.claimOne(worker).claim();
  }

  private static PublishedValue value(String scope, int sequence, int order, String text) {
    return new PublishedValue("progress", scope, sequence, order, json(text));
  }

  private static Payload json(String text) {
    return payload("\"" + text + "\"");
  }

  private static Report published(Claim claim, PublishedValue... values) {
    return new Report.ValuesPublished(claim, List.of(values));
  }

  private ReportResult publish(Claim claim, int number, String text) {
    return engine.report(published(claim, value("", number, number, text)));
  }

  private PublishedView view(RunId run) {
    return engine.engine().queries().published(NAMESPACE, run, "", 0);
  }

  private List<String> values(RunId run) {
    return view(run).values().stream()
        .map(value -> new String(value.payload().data(), StandardCharsets.UTF_8))
        .toList();
  }

  @Test
  void the_last_value_of_each_name_is_shown() {
    Claim claim = startAndClaim();

    assertThat(publish(claim, 1, "a")).isEqualTo(new ReportResult.Accepted(RunStatus.RUNNING));
    publish(claim, 2, "b");
    engine.report(
        published(
            claim, new PublishedValue("status", "", 1, 3, new Payload(new byte[0], Map.of()))));

    assertThat(view(claim.runId()).values())
        .extracting(PublishedView.Value::name)
        .containsExactly("progress", "status");
    assertThat(values(claim.runId())).containsExactly("\"b\"", "");
    assertThat(view(claim.runId()).status()).isEqualTo(RunStatus.RUNNING);
    assertThat(
            engine.engine().queries().published(NAMESPACE, claim.runId(), "progress", 0).values())
        .extracting(PublishedView.Value::payload)
        .containsExactly(json("b"));
  }

  @Test
  void a_value_that_is_repeated_by_a_replay_changes_nothing() {
    Claim claim = startAndClaim();
    publish(claim, 1, "a");
    publish(claim, 2, "b");
    PublishedView before = view(claim.runId());
    engine.report(sleep(claim, "pause", 3_600_000));
    database.execute("UPDATE kagzi.workflow_runs SET available_at = now()");
    engine.engine().clockMoved();
    Claim next = engine.claimOne(worker).claim();

    publish(next, 1, "a again");
    publish(next, 2, "b again");

    assertThat(view(claim.runId()).values()).isEqualTo(before.values());
    publish(next, 3, "c");
    assertThat(values(claim.runId())).containsExactly("\"c\"");
  }

  @Test
  void a_worker_that_has_lost_its_claim_changes_nothing() {
    Claim claim = startAndClaim();
    publish(claim, 1, "a");
    engine.report(new Report.Released(claim, 0, null));
    Claim next = engine.claimOne(worker).claim();
    publish(next, 2, "b");

    publish(claim, 3, "stale");

    assertThat(next.epoch()).isGreaterThan(claim.epoch());
    assertThat(values(claim.runId())).containsExactly("\"b\"");
    assertThat(publish(new Claim(claim.runId(), next.epoch() + 1), 4, "future"))
        .isInstanceOf(ReportResult.ClaimLost.class);
  }

  @Test
  void of_two_branches_the_one_that_published_later_counts_whichever_report_comes_first() {
    Claim claim = startAndClaim();

    engine.report(published(claim, value("p[b]/", 1, 2, "late")));
    engine.report(published(claim, value("p[a]/", 1, 1, "early")));
    assertThat(values(claim.runId())).containsExactly("\"late\"");
    engine.report(published(claim, value("p[a]/", 2, 3, "last")));
    engine.report(published(claim, value("p[b]/", 1, 4, "repeated")));

    assertThat(values(claim.runId())).containsExactly("\"last\"");
    assertThat(
            new Stored(database)
                .text(
                    "SELECT scope AS value FROM kagzi.published_values WHERE data IS NULL AND run_id = '%s'"
                        .formatted(claim.runId())))
        .isEqualTo("p[b]/");
  }

  @Test
  void values_and_the_end_of_the_run_are_stored_together_and_stay() {
    Claim claim = startAndClaim();

    engine.report(
        List.of(
            stepDone(claim, "a", "1"), published(claim, value("", 1, 1, "all")), done(claim, "1")));

    assertThat(view(claim.runId()).status()).isEqualTo(RunStatus.COMPLETED);
    assertThat(values(claim.runId())).containsExactly("\"all\"");
    assertThat(publish(claim, 2, "too late"))
        .isEqualTo(new ReportResult.Accepted(RunStatus.RUNNING));
    assertThat(values(claim.runId())).containsExactly("\"all\"");
  }

  @Test
  void the_next_attempt_of_a_run_publishes_again() {
    engine.start(new RetryPolicy(2, 1, 1, 1, 0, List.of()));
    Claim first = engine.claimOne(worker).claim();
    publish(first, 1, "first");
    publish(first, 2, "failing");
    engine.report(failed(first, "no"));
    assertThat(values(first.runId())).containsExactly("\"failing\"");
    Claim second = engine.claimOne(worker).claim();

    publish(second, 1, "second");

    assertThat(values(first.runId())).containsExactly("\"second\"");
  }

  @Test
  void too_many_names_and_bytes_are_refused() {
    Claim claim = startAndClaim();
    List<PublishedValue> names = new ArrayList<>();
    IntStream.rangeClosed(1, PublishedValue.RUN_NAMES_MAX)
        .forEach(i -> names.add(new PublishedValue("n" + i, "", 1, i, json("x"))));
    engine.report(new Report.ValuesPublished(claim, names));

    assertThat(refusal(publish(claim, 1, "x")))
        .startsWith("published: 2001 names, the last of them progress (expected: at most 2000");

    Claim other = startAndClaim();
    String large = "x".repeat(PublishedValue.BYTES_MAX - 100);
    assertThat(refusal(publish(other, 1, "x".repeat(PublishedValue.BYTES_MAX))))
        .isEqualTo("published[progress]: 65538 bytes (expected: at most 65536 bytes)");
    for (int i = 1; i <= 32; i++) {
      engine.report(published(other, new PublishedValue("n" + i, "", 1, i, json(large))));
    }
    assertThat(refusal(engine.report(published(other, value("", 1, 33, large)))))
        .startsWith("published: 21")
        .endsWith("(expected: at most 2097152 bytes of published values in one run)");
    // A later value of a name replaces the earlier one, in any branch.
    engine.report(published(other, new PublishedValue("n1", "p[a]/", 1, 34, json("small"))));
    assertThat(publish(other, 1, large)).isInstanceOf(ReportResult.Accepted.class);
  }

  private static String refusal(ReportResult result) {
    assertThat(result).isInstanceOf(ReportResult.Refused.class);
    return String.valueOf(((ReportResult.Refused) result).refusal().getMessage());
  }

  @Test
  void invalid_values_are_refused() {
    Claim claim = startAndClaim();

    assertThat(refusal(engine.report(published(claim, value("branch", 1, 1, "x")))))
        .startsWith("scope: branch (expected: the scope of a branch");
    assertThat(refusal(engine.report(published(claim, value("", 0, 1, "x")))))
        .isEqualTo("sequence and order: 0 and 1 (expected: at least 1)");
    assertThat(
            refusal(engine.report(published(claim, new PublishedValue("", "", 1, 1, json("x"))))))
        .startsWith("name: \"\" (expected: 1 to");
    assertThatThrownBy(() -> engine.engine().queries().published(NAMESPACE, RunId.next(), "", 0))
        .isInstanceOf(Refusal.class)
        .hasMessageStartingWith("run not found");
    assertThatThrownBy(() -> engine.engine().queries().published("other", claim.runId(), "", 0))
        .hasMessageStartingWith("run not found");
  }

  @Test
  void a_run_must_not_complete_without_a_value_that_was_refused() {
    Claim claim = startAndClaim();

    List<ReportResult> results =
        engine.report(List.of(published(claim, value("", 0, 0, "x")), done(claim, "1")));

    assertThat(results).allMatch(ReportResult.Refused.class::isInstance);
    assertThat(view(claim.runId()).status()).isEqualTo(RunStatus.RUNNING);
  }

  @Test
  void a_watch_is_notified_by_a_later_value_of_its_name_and_by_the_end() throws Exception {
    Claim claim = startAndClaim();
    publish(claim, 1, "a");
    long version = view(claim.runId()).values().getFirst().version();
    CompletableFuture<Void> any = watch(claim.runId(), "", version);
    CompletableFuture<Void> other = watch(claim.runId(), "status", 0);
    CompletableFuture<Void> now = watch(claim.runId(), "progress", 0);
    CompletableFuture<Void> unknown = watch(RunId.next(), "", 0);

    now.get(20, TimeUnit.SECONDS);
    unknown.get(20, TimeUnit.SECONDS);
    assertThat(any).isNotDone();
    publish(claim, 2, "b");
    any.get(20, TimeUnit.SECONDS);
    assertThat(other).isNotDone();
    engine.report(done(claim, "1"));
    other.get(20, TimeUnit.SECONDS);
  }

  @Test
  void a_watch_at_another_server_is_notified() throws Exception {
    Claim claim = startAndClaim();
    try (TestEngine elsewhere = TestEngine.start(database.config(), "elsewhere")) {
      CompletableFuture<Void> notified = new CompletableFuture<>();
      elsewhere
          .engine()
          .published()
          .watch(NAMESPACE, claim.runId(), "progress", 0, () -> notified.complete(null));

      publish(claim, 1, "a");

      notified.get(20, TimeUnit.SECONDS);
    }
  }

  /**
   * Frequent changes of one run at this server must not keep it from reading values that other
   * servers store for another run.
   */
  @Test
  void a_watch_of_a_value_at_another_server_is_notified_while_another_run_is_busy()
      throws Exception {
    Claim quiet = startAndClaim();
    Claim busy = startAndClaim();
    publish(busy, 1, "a");
    try (TestEngine elsewhere = TestEngine.start(database.config(), "elsewhere")) {
      CompletableFuture<Void> never = watch(busy.runId(), "", Long.MAX_VALUE);
      CompletableFuture<Void> notified = watch(quiet.runId(), "progress", 0);
      // A watch is read when it begins. Once this watch is notified, the first two have been read
      // too.
      watch(busy.runId(), "progress", 0).get(20, TimeUnit.SECONDS);

      elsewhere.report(published(quiet, value("", 1, 1, "a")));

      Awaitility.await()
          .atMost(Duration.ofSeconds(20))
          .pollInterval(Duration.ofMillis(10))
          .until(
              () -> {
                engine.engine().published().changed(busy.runId());
                return notified.isDone();
              });
      assertThat(never).isNotDone();
    }
  }

  private CompletableFuture<Void> watch(RunId run, String name, long after) {
    CompletableFuture<Void> notified = new CompletableFuture<>();
    engine.engine().published().watch(NAMESPACE, run, name, after, () -> notified.complete(null));
    return notified;
  }
}
