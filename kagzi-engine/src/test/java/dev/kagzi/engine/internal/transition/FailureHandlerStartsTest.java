package dev.kagzi.engine.internal.transition;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.failed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.Holds;
import dev.kagzi.engine.Stored;
import dev.kagzi.engine.TestConfigs;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.TestOptions;
import dev.kagzi.engine.config.JournalConfig;
import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.internal.db.SqlErrors;
import dev.kagzi.engine.internal.run.FailureHandler;
import dev.kagzi.engine.namespace.NamespaceUpdate;
import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.value.Origin;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.worker.WorkerRegistration;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Failure handlers that are started when a run fails. */
class FailureHandlerStartsTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final String CLEANUP = "cleanup";

  private final Stored stored = new Stored(database);
  private String queue;
  private String repairs;
  private String system;
  private String elsewhere;
  private TestEngine engine;
  private WorkerId worker;

  @BeforeEach
  void open(TestInfo test) {
    queue = test.getTestMethod().orElseThrow().getName();
    repairs = "repairs-" + queue;
    system = "system-" + queue;
    elsewhere = "elsewhere-" + queue;
    engine = TestEngine.start(database.config(), queue);
    worker = engine.register();
    engine
        .engine()
        .namespaces()
        .update(NAMESPACE, new NamespaceUpdate(null, null, true, null, false), null);
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private RunId start(StartOptions options) {
    return start(
        options, new Payload("{\"a\":1}".getBytes(StandardCharsets.UTF_8), Map.of("k", "v")));
  }

  private RunId start(StartOptions options, Payload input) {
    return start("order-1", options, input);
  }

  private RunId start(String externalId, StartOptions options, Payload input) {
    return await(
            engine
                .engine()
                .runs()
                .start(
                    new StartRequest(
                        NAMESPACE, externalId, queue, TYPE, "", input, null, null, options)))
        .runId();
  }

  private static StartOptions handledBy(String handlerQueue) {
    return new TestOptions().withOnFailure(CLEANUP, handlerQueue).build();
  }

  private void fail(String message) {
    engine.report(failed(engine.claimOne(worker).claim(), message));
  }

  private WorkerId registerHandler(String handlerQueue, String type) {
    return await(
        engine
            .engine()
            .workers()
            .register(
                new WorkerRegistration(
                    new QueueName(NAMESPACE, handlerQueue),
                    List.of(new TypeVersion(type, "")),
                    false,
                    "host",
                    2,
                    "",
                    Map.of(),
                    null,
                    Map.of(),
                    ""),
                null));
  }

  private Task handlerTask(String handlerQueue, String type) {
    WorkerId handler = registerHandler(handlerQueue, type);
    return await(
            engine
                .engine()
                .tasks()
                .poll(
                    new PollRequest(
                        new QueueName(NAMESPACE, handlerQueue),
                        handler,
                        List.of(new PollRequest.Wanted(type, "", 0)),
                        1,
                        10_000))
                .tasks())
        .get(0);
  }

  private long handlersOf(RunId run) {
    return stored.count(
        "SELECT count(*) AS value FROM kagzi.workflow_runs WHERE failed_run_id = '" + run + "'");
  }

  @Test
  void the_run_s_own_handler_gets_the_event_on_its_queue() {
    RunId run = start(handledBy(repairs));

    fail("no stock");

    Task task = handlerTask(repairs, CLEANUP);
    Payload input = Objects.requireNonNull(task.input());
    assertThat(input.metadata()).containsEntry("event", "kagzi/workflow.failed");
    assertThat(new String(input.data(), StandardCharsets.UTF_8))
        .contains("\"failed_run_id\":\"" + run + "\"")
        .contains("\"namespace_id\":\"default\"")
        .contains("\"workflow_type\":\"order\"")
        .contains("\"task_queue\":\"" + queue + "\"")
        .contains("\"error\":\"no stock\"")
        .contains("\"original_input\":\"eyJhIjoxfQ==\"")
        .contains("\"original_input_metadata\":{\"k\":\"v\"}")
        .contains("\"attempts\":1")
        .contains("\"started_at\":\"2")
        .contains("\"failed_at\":\"2")
        .contains("\"status\":\"FAILED\"")
        .contains("\"external_id\":\"order-1\"");
    RunView failedRun = engine.run(run);
    RunView handler = engine.run(task.claim().runId());
    assertThat(failedRun.setup().failureHandler()).isEqualTo(handler.runId());
    assertThat(handler.setup().failedRun()).isEqualTo(run);
    assertThat(handler.origin()).isEqualTo(Origin.FAILURE_HANDLER);
    assertThat(handler.externalId()).isEqualTo("failure-" + run);
  }

  @Test
  void without_a_queue_the_handler_runs_on_the_queue_of_the_failed_run() {
    start(handledBy(""));

    fail("no");

    assertThat(handlerTask(queue, CLEANUP).workflowType()).isEqualTo(CLEANUP);
  }

  @Test
  void the_namespace_handler_starts_even_when_no_worker_is_online() {
    WorkerId handler = registerHandler(system, FailureHandler.TYPE);
    await(engine.engine().workers().deregister(null, handler, false));
    RunId run = start(StartOptions.NONE);

    fail("no");

    assertThat(handlersOf(run)).isEqualTo(1);
    Task task = handlerTask(system, FailureHandler.TYPE);
    assertThat(engine.run(task.claim().runId()).externalId()).isEqualTo("system-failure-" + run);
  }

  @Test
  void the_namespace_handler_prefers_the_queue_of_the_failed_run() {
    registerHandler(queue, FailureHandler.TYPE);
    registerHandler(elsewhere, FailureHandler.TYPE);
    start(StartOptions.NONE);

    fail("no");

    assertThat(handlerTask(queue, FailureHandler.TYPE).workflowType())
        .isEqualTo(FailureHandler.TYPE);
  }

  @Test
  void both_handlers_start_and_the_run_shows_its_own() {
    registerHandler(system, FailureHandler.TYPE);
    RunId run = start(handledBy(repairs));

    fail("no");

    assertThat(handlersOf(run)).isEqualTo(2);
    RunId shown = engine.run(run).setup().failureHandler();
    assertThat(engine.run(Objects.requireNonNull(shown)).workflowType()).isEqualTo(CLEANUP);
  }

  @Test
  void no_handler_starts_after_the_namespace_handler_was_cleared() {
    registerHandler(system, FailureHandler.TYPE);
    engine
        .engine()
        .namespaces()
        .update(NAMESPACE, new NamespaceUpdate(null, null, true, null, false), null);
    RunId run = start(StartOptions.NONE);

    fail("no");

    assertThat(handlersOf(run)).isZero();
  }

  /** Otherwise a crash in between would leave a failure without its handler. */
  @Test
  void the_handler_starts_in_the_transaction_that_ends_the_run() {
    RunId run = start(handledBy(repairs));

    fail("no");

    assertThat(
            stored.count(
                "SELECT count(DISTINCT xmin::text) AS value FROM kagzi.workflow_runs WHERE '"
                    + run
                    + "' IN (run_id, failed_run_id)"))
        .isEqualTo(1);
    assertThat(handlersOf(run)).isEqualTo(1);
  }

  @Test
  void a_run_that_times_out_starts_its_handler() {
    RunId run =
        start(new TestOptions().withOnFailure(CLEANUP, repairs).withExecutionTimeoutMs(1).build());

    Task task = handlerTask(repairs, CLEANUP);

    assertThat(engine.run(run).status()).isEqualTo(RunStatus.TIMED_OUT);
    assertThat(engine.run(task.claim().runId()).setup().failedRun()).isEqualTo(run);
    assertThat(new String(Objects.requireNonNull(task.input()).data(), StandardCharsets.UTF_8))
        .contains("\"status\":\"TIMED_OUT\"");
  }

  @Test
  void a_handler_that_fails_starts_no_further_handler() {
    registerHandler(system, FailureHandler.TYPE);
    start(handledBy(repairs));
    fail("no");
    Task handler = handlerTask(repairs, CLEANUP);

    engine.report(failed(handler.claim(), "the handler fails too"));

    assertThat(engine.run(handler.claim().runId()).status()).isEqualTo(RunStatus.FAILED);
    assertThat(handlersOf(handler.claim().runId())).isZero();
  }

  @Test
  void a_repeated_failure_starts_one_handler() {
    RunId run = start(handledBy(repairs));
    Task task = engine.claimOne(worker);

    engine.report(failed(task.claim(), "no"));
    engine.report(failed(task.claim(), "no"));

    assertThat(handlersOf(run)).isEqualTo(1);
  }

  @Test
  void a_run_that_completes_is_cancelled_or_terminated_starts_no_handler() {
    RunId completed = start(handledBy(repairs));
    engine.report(done(engine.claimOne(worker).claim(), "1"));
    RunId cancelled = start(handledBy(repairs));
    await(engine.engine().runs().cancel(NAMESPACE, cancelled));
    RunId terminated = start(handledBy(repairs));
    await(engine.engine().runs().terminate(NAMESPACE, terminated, "enough"));

    assertThat(handlersOf(completed) + handlersOf(cancelled) + handlersOf(terminated)).isZero();
  }

  @Test
  void a_large_input_is_not_copied_to_the_handler() {
    RunId run = start(handledBy(repairs), new Payload(new byte[(1 << 20) + 1], Map.of()));

    fail("no");

    Payload input = Objects.requireNonNull(handlerTask(repairs, CLEANUP).input());
    assertThat(input.data().length).isLessThan(2_000);
    assertThat(engine.run(run).input().data()).hasSize((1 << 20) + 1);
  }

  private static Map<RunId, Boolean> notRetried(List<RunId> runs) {
    return runs.stream().collect(Collectors.toMap(run -> run, run -> false));
  }

  /** Many failures at once must not load all inputs into memory. */
  @Test
  void inputs_that_are_too_large_for_one_transaction_are_all_read_in_parts() throws Exception {
    engine.close();
    Holds holds = new Holds(database.config());
    EngineConfig config = TestConfigs.withJournal(oneLane());
    engine = TestEngine.start(database.config(), queue, config, holds);
    List<RunId> runs = new ArrayList<>();
    List<Report> failures = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      runs.add(start("large-" + i, handledBy(repairs), new Payload(new byte[1 << 20], Map.of())));
      failures.add(failed(engine.claimOne(worker).claim(), "no"));
    }

    int fitting =
        database.run(tx -> FailureContext.read(tx, notRetried(runs.subList(0, 4))).size());
    SQLException tooMuch =
        database.run(
            tx ->
                catchThrowableOfType(
                    SQLException.class, () -> FailureContext.read(tx, notRetried(runs))));
    CompletableFuture<List<ReportResult>> together;
    try (Holds.Hold hold = holds.statement("INSERT INTO kagzi.workflow_runs")) {
      var unused = engine.engine().runs().start(engine.request("", null));
      hold.awaitReached();
      together = engine.engine().reports().accept(NAMESPACE, failures);
    }
    await(together);

    assertThat(fitting).isEqualTo(4);
    assertThat(tooMuch.getSQLState()).isEqualTo(SqlErrors.LIMIT_EXCEEDED);
    assertThat(
            stored.count(
                "SELECT count(*) AS value FROM kagzi.workflow_runs r"
                    + " JOIN kagzi.workflow_payloads p ON p.run_id = r.run_id AND p.kind = 'INPUT'"
                    + " WHERE r.failed_run_id IS NOT NULL AND octet_length(p.data) > 1048576"
                    + " AND r.task_queue = '"
                    + repairs
                    + "'"))
        .isEqualTo(5);
  }

  private static JournalConfig oneLane() {
    JournalConfig journal = JournalConfig.defaults();
    return new JournalConfig(
        1,
        journal.queueBytesMax(),
        journal.batchBytesMax(),
        journal.batchWritesMax(),
        journal.fullPatience(),
        journal.databasePatience());
  }

  @Test
  void a_resumed_run_that_fails_again_is_handled_again() {
    RunId run = start(handledBy(repairs));
    fail("once");
    await(engine.engine().runs().resume(NAMESPACE, run, null, false));

    fail("twice");

    assertThat(handlersOf(run)).isEqualTo(2);
  }

  @Test
  void a_handler_that_is_retried_and_fails_again_starts_no_further_handler() {
    registerHandler(system, FailureHandler.TYPE);
    RunId run = start(handledBy(repairs));
    fail("no");
    Task handler = handlerTask(repairs, CLEANUP);
    engine.report(failed(handler.claim(), "the handler fails too"));

    RunId again =
        await(engine.engine().runs().retry(NAMESPACE, handler.claim().runId(), null, null)).runId();
    engine.report(failed(handlerTask(repairs, CLEANUP).claim(), "and again"));

    assertThat(engine.run(again).status()).isEqualTo(RunStatus.FAILED);
    assertThat(handlersOf(again)).isZero();
    assertThat(handlersOf(run)).isEqualTo(3);
  }
}
