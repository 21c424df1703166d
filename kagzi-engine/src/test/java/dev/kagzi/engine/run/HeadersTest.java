package dev.kagzi.engine.run;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.failed;
import static dev.kagzi.engine.TestEngine.payload;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.TestOptions;
import dev.kagzi.engine.dispatch.Poll;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.query.RunFilter;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.WorkerId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Headers of a start: what is accepted, who gets them, and which runs inherit them. */
class HeadersTest {
  private static final Map<String, String> HEADERS =
      Map.of(
          "traceparent",
          "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
          "tenant",
          "größe \"quoted\"\nline");

  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private TestEngine engine;

  @BeforeEach
  void open(TestInfo test) {
    engine = TestEngine.start(database.config(), test.getDisplayName());
  }

  @AfterEach
  void close() {
    engine.close();
    database.forgetRuns();
  }

  @Test
  void a_run_that_is_handed_over_directly_has_them() {
    WorkerId worker = engine.register();
    engine.settle(worker);
    Poll poll = engine.poll(worker, 1);
    long handedOver = engine.engine().metrics().dispatch().handedOver();

    RunId run = start(HEADERS);

    assertThat(await(poll.tasks())).extracting(Task::headers).containsExactly(HEADERS);
    assertThat(engine.engine().metrics().dispatch().handedOver()).isEqualTo(handedOver + 1);
    assertThat(engine.run(run).setup().headers()).isEqualTo(HEADERS);
  }

  @Test
  void a_run_that_is_claimed_by_query_has_them_at_every_claim() {
    RunId run = start(HEADERS);
    WorkerId worker = engine.register();

    Task first = engine.claimOne(worker);
    engine.report(new Report.Released(first.claim(), 0, null));
    Task second = engine.claimOne(worker);

    assertThat(first.headers()).isEqualTo(HEADERS);
    assertThat(second.headers()).isEqualTo(HEADERS);
    assertThat(second.claim().epoch()).isEqualTo(2);
    assertThat(engine.engine().queries().runs(RunFilter.all(NAMESPACE), PageSpec.FIRST).items())
        .filteredOn(each -> each.runId().equals(run))
        .extracting(each -> each.setup().headers())
        .containsExactly(HEADERS);
  }

  @Test
  void starts_with_and_without_them_share_a_batch() {
    List<StartRequest> requests =
        List.of(
            request("", HEADERS),
            request("", Map.of()),
            new StartRequest(
                NAMESPACE,
                "",
                engine.queue().queue(),
                TYPE,
                "",
                payload("1"),
                null,
                null,
                new TestOptions().withStepTimeoutMs(5_000).withHeaders(HEADERS).build()));

    List<RunId> runs =
        engine.engine().runs().startAll(requests).stream()
            .map(TestEngine::await)
            .map(StartResult::runId)
            .toList();

    assertThat(runs)
        .extracting(run -> engine.run(run).setup().headers())
        .containsExactly(HEADERS, Map.of(), HEADERS);
  }

  @Test
  void a_start_that_returns_an_existing_run_does_not_change_its_headers() {
    RunId run = await(engine.engine().runs().start(request("order-1", HEADERS))).runId();

    StartResult again =
        await(engine.engine().runs().start(request("order-1", Map.of("tenant", "other"))));

    assertThat(again.existed()).isTrue();
    assertThat(again.runId()).isEqualTo(run);
    assertThat(engine.run(run).setup().headers()).isEqualTo(HEADERS);
  }

  @Test
  void a_child_has_those_of_its_own_start() {
    engine.start();
    Task parent = engine.claimOne(engine.register());
    Map<String, String> own = Map.of("tenant", "child");

    ReportResult started =
        engine.report(
            new Report.ChildStarted(
                parent.claim(),
                "child",
                1,
                new StartRequest(
                    NAMESPACE,
                    "",
                    "",
                    TYPE,
                    "",
                    payload("1"),
                    null,
                    null,
                    StartOptions.NONE.withHeaders(own)),
                false));

    RunId child = ((ReportResult.ChildAccepted) started).child();
    assertThat(engine.run(child).setup().headers()).isEqualTo(own);
  }

  @Test
  void a_failure_handler_and_a_retry_inherit_them() {
    RunId run =
        engine.start(new TestOptions().withOnFailure("clean-up", "").withHeaders(HEADERS).build());
    Task task = engine.claimOne(engine.register());
    engine.report(failed(task.claim(), "no money"));

    RunId retry = await(engine.engine().runs().retry(NAMESPACE, run, null, null)).runId();

    RunId handler = requireNonNull(engine.run(run).setup().failureHandler());
    assertThat(engine.run(handler).setup().headers()).isEqualTo(HEADERS);
    assertThat(engine.run(retry).setup().headers()).isEqualTo(HEADERS);
  }

  @Test
  void as_many_and_as_large_as_the_limits_are_accepted() {
    Map<String, String> many = new HashMap<>();
    for (int i = 0; i < 64; i++) {
      many.put("h" + i, "x");
    }
    Map<String, String> large = Map.of("n".repeat(100), "é".repeat((16_384 - 100) / 2));

    assertThat(engine.run(start(many)).setup().headers()).isEqualTo(many);
    assertThat(engine.run(start(large)).setup().headers()).isEqualTo(large);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "with space", "a:b", "naïve", "new\nline"})
  void a_name_that_is_no_token_is_refused(String name) {
    assertRefused(Map.of(name, "x"), "1 to 100 of the characters");
  }

  @Test
  void more_and_larger_ones_are_refused() {
    Map<String, String> many = new HashMap<>();
    for (int i = 0; i < 65; i++) {
      many.put("h" + i, "x");
    }

    assertRefused(many, "headers: 65 entries (expected: at most 64 entries)");
    assertRefused(
        Map.of("a", "é".repeat(8_192)),
        "headers: 16385 bytes (expected: at most 16384 bytes in all)");
    assertRefused(Map.of("n".repeat(101), "x"), "1 to 100 of the characters");
    assertRefused(Map.of("a", "nul\0"), "headers[a]");
  }

  private void assertRefused(Map<String, String> headers, String message) {
    assertThatExceptionOfType(Refusal.class)
        .isThrownBy(() -> start(headers))
        .withMessageContaining(message)
        .matches(refusal -> refusal.reason() == Refusal.Reason.INVALID_ARGUMENT);
  }

  private RunId start(Map<String, String> headers) {
    return engine.start(StartOptions.NONE.withHeaders(headers));
  }

  private StartRequest request(String externalId, Map<String, String> headers) {
    return new StartRequest(
        NAMESPACE,
        externalId,
        engine.queue().queue(),
        TYPE,
        "",
        payload("1"),
        null,
        null,
        StartOptions.NONE.withHeaders(headers));
  }
}
