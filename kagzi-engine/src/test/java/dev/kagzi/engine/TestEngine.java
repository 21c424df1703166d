package dev.kagzi.engine;

import dev.kagzi.engine.config.DatabaseConfig;
import dev.kagzi.engine.dispatch.Poll;
import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.internal.db.ConnectionFactory;
import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.RunEnd;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.run.StartResult;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.ErrorCode;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.worker.WorkerRegistration;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/** An engine with short methods for tests. The test that starts it closes it. */
@NullMarked
public final class TestEngine implements AutoCloseable {
  public static final String NAMESPACE = "default";
  public static final String TYPE = "order";
  private static final long LIMIT_SECONDS = 20;
  private static final long QUIET_NANOS = TimeUnit.MILLISECONDS.toNanos(150);

  private final Engine engine;
  private final String queue;

  private TestEngine(Engine engine, String queue) {
    this.engine = engine;
    this.queue = queue;
  }

  public static TestEngine start(DatabaseConfig config, String queue) {
    return start(config, queue, EngineConfig.defaults());
  }

  public static TestEngine start(DatabaseConfig config, String queue, EngineConfig settings) {
    return new TestEngine(Engine.start(config, settings), queue);
  }

  public static TestEngine start(
      DatabaseConfig config, String queue, EngineConfig settings, ConnectionFactory connector) {
    return new TestEngine(Engine.start(config, settings, connector), queue);
  }

  public Engine engine() {
    return engine;
  }

  /** Returns the same engine for another queue. Close only one of them. */
  public TestEngine onQueue(String other) {
    return new TestEngine(engine, other);
  }

  public QueueName queue() {
    return new QueueName(NAMESPACE, queue);
  }

  public StartRequest request(String externalId, @Nullable RunId runId) {
    return new StartRequest(
        NAMESPACE, externalId, queue, TYPE, "", payload("\"in\""), null, runId, StartOptions.NONE);
  }

  public RunId start() {
    return await(engine.runs().start(request("", null))).runId();
  }

  public RunId start(RetryPolicy policy) {
    return await(
            engine
                .runs()
                .start(
                    new StartRequest(
                        NAMESPACE,
                        "",
                        queue,
                        TYPE,
                        "",
                        payload("\"in\""),
                        policy,
                        null,
                        StartOptions.NONE)))
        .runId();
  }

  public RunId start(StartOptions options) {
    return await(
            engine
                .runs()
                .start(
                    new StartRequest(
                        NAMESPACE, "", queue, TYPE, "", payload("\"in\""), null, null, options)))
        .runId();
  }

  public StartResult start(String externalId) {
    return await(engine.runs().start(request(externalId, null)));
  }

  public WorkerId register() {
    return await(
        engine
            .workers()
            .register(
                new WorkerRegistration(
                    queue(),
                    List.of(new TypeVersion(TYPE, "")),
                    false,
                    "host",
                    1,
                    "",
                    Map.of(),
                    null,
                    Map.of(),
                    ""),
                null));
  }

  public Poll poll(WorkerId worker, int tasksMax) {
    return engine
        .tasks()
        .poll(
            new PollRequest(
                queue(), worker, List.of(new PollRequest.Wanted(TYPE, "", 0)), tasksMax, 10_000));
  }

  /** Waits for the next task and returns it. */
  public Task claimOne(WorkerId worker) {
    return await(poll(worker, 1).tasks()).get(0);
  }

  /**
   * Waits until the task queue knows that no run is due: then starts are dispatched directly,
   * without claim queries.
   */
  public void settle(WorkerId worker) {
    int quiet = 0;
    long quietSince = System.nanoTime();
    // A claim query that met an uncommitted run is repeated after a moment.
    while (quiet < 3 || System.nanoTime() - quietSince < QUIET_NANOS) {
      long rounds = engine.metrics().dispatch().claimRounds();
      long handedOver = engine.metrics().dispatch().handedOver();
      Poll poll = poll(worker, 2);
      start();
      await(poll.tasks()).forEach(task -> report(done(task.claim(), "1")));
      boolean queried = engine.metrics().dispatch().claimRounds() > rounds;
      quiet = queried || engine.metrics().dispatch().handedOver() == handedOver ? 0 : quiet + 1;
      quietSince = quiet == 0 ? System.nanoTime() : quietSince;
    }
  }

  public ReportResult report(Report report) {
    return await(engine.reports().accept(NAMESPACE, List.of(report))).get(0);
  }

  public List<ReportResult> report(List<Report> reports) {
    return await(engine.reports().accept(NAMESPACE, reports));
  }

  public RunView run(RunId id) {
    return engine.queries().run(NAMESPACE, id);
  }

  /** Returns the failure message of the run. */
  public String error(RunId id) {
    Failure error = run(id).error();
    return error == null ? "" : error.message();
  }

  public CompletableFuture<Optional<RunEnd>> end(RunId id) {
    CompletableFuture<Optional<RunEnd>> end = new CompletableFuture<>();
    var unused = engine.completions().watch(NAMESPACE, id, end::complete);
    return end;
  }

  public static Report stepDone(Claim claim, String step, String output) {
    return stepDone(claim, step, 1, output);
  }

  public static Report stepDone(Claim claim, String step, int attempt, String output) {
    return TestReports.done(claim, step, attempt, StepKind.FUNCTION, null, payload(output), 1);
  }

  public static Report stepFailed(Claim claim, String step, int attempt, @Nullable RetryPolicy p) {
    return TestReports.failed(claim, step, attempt, null, failure("boom"), p, false, 1);
  }

  public static Report sleep(Claim claim, String step, long millis) {
    return new Report.Sleep(claim, step, millis, null, false);
  }

  public static Report done(Claim claim, String output) {
    return TestReports.ended(claim, payload(output));
  }

  public static Report failed(Claim claim, String message) {
    return new Report.Failed(claim, failure(message));
  }

  public static Failure failure(String message) {
    return new Failure(
        ErrorCode.INTERNAL, message, false, 0, "subject", "id", Map.of("type", "Boom"));
  }

  public static Payload payload(String json) {
    return new Payload(json.getBytes(StandardCharsets.UTF_8), Map.of());
  }

  public static <T> T await(CompletableFuture<T> future) {
    try {
      return future.get(LIMIT_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new IllegalStateException(e);
    } catch (InterruptedException | TimeoutException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    engine.close();
  }
}
