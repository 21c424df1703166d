package dev.kagzi.engine;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.failed;
import static dev.kagzi.engine.TestEngine.failure;
import static dev.kagzi.engine.TestEngine.payload;
import static dev.kagzi.engine.TestEngine.sleep;
import static dev.kagzi.engine.TestEngine.stepDone;
import static dev.kagzi.engine.TestEngine.stepFailed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.engine.config.JournalConfig;
import dev.kagzi.engine.config.TransitionRules;
import dev.kagzi.engine.dispatch.Poll;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.journal.Journal;
import dev.kagzi.engine.internal.run.DeliverMessages;
import dev.kagzi.engine.internal.run.ExpireRun;
import dev.kagzi.engine.internal.run.ExpireStep;
import dev.kagzi.engine.internal.run.FailCrashedRun;
import dev.kagzi.engine.internal.run.RenewLease;
import dev.kagzi.engine.internal.run.RunEvents;
import dev.kagzi.engine.internal.run.RunWrite;
import dev.kagzi.engine.internal.run.StartRun;
import dev.kagzi.engine.internal.run.TakeClaim;
import dev.kagzi.engine.internal.run.TakeReason;
import dev.kagzi.engine.internal.transition.RunWriter;
import dev.kagzi.engine.metrics.Meters;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.BegunStep;
import dev.kagzi.engine.run.Caller;
import dev.kagzi.engine.run.IfExists;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.SignalRequest;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.run.StartResult;
import dev.kagzi.engine.thread.EssentialThreads;
import dev.kagzi.engine.value.CallbackAnswer;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Origin;
import dev.kagzi.engine.value.PublishedValue;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.Shard;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepRef;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.worker.WorkerHeartbeat;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Cuts the connection of every kind of write after PostgreSQL has committed it and before the
 * answer. The stored rows and the caller's answer must be the same as without the cut.
 */
class ResendTest {
  private static final String ALONE = "SELECT 1";
  private static final String COMMIT = "COMMIT";

  /** The end of a transaction that has written nothing. */
  private static final String ROLLBACK = "ROLLBACK";

  private static final RetryPolicy SLOWLY = new RetryPolicy(3, 60_000, 1, 60_000, 0, List.of());
  private static final RetryPolicy QUICKLY = new RetryPolicy(3, 900, 1, 900, 0, List.of());
  private static final SignalRequest SIGNAL = new SignalRequest("approval", payload("1"), "s");
  private static final RetryPolicy ONCE = new RetryPolicy(1, 1_000, 1, 1_000, 0, List.of());

  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final AtomicInteger QUEUES = new AtomicInteger();
  private static CutProxy proxy;
  private static TestEngine all;
  private static Database side;
  private static Journal<RunWrite<?>> journal;

  @BeforeAll
  static void open() {
    proxy = new CutProxy(database.config());
    JournalConfig oneLane =
        new JournalConfig(
            1, 64 << 20, 8 << 20, 2_000, Duration.ofSeconds(5), Duration.ofSeconds(10));
    // Only the lanes connect through the proxy, so that no other statement is cut.
    all =
        TestEngine.start(
            database.config(),
            "all",
            TestConfigs.withJournal(oneLane),
            () ->
                Database.connect(
                    Thread.currentThread().getName().startsWith("kagzi-lane-")
                        ? proxy.config()
                        : database.config()));
    // No caller gets the answers of the engine's own writes, so they are appended to a separate
    // journal of the same kind.
    side = Database.open(database.config(), () -> Database.connect(proxy.config()));
    journal =
        new Journal<>(
            side,
            () -> new RunWriter(TransitionRules.DEFAULT, SILENCE, new Random(1)),
            oneLane,
            () -> 1,
            Meters.unpublished().journal("test"),
            new EssentialThreads());
    await(handIn(new DeliverMessages(RunId.next())));
    WorkerId worker = all.register();
    all.start();
    await(
        all.engine()
            .workers()
            .heartbeat(new WorkerHeartbeat(worker, null, null, 0, 0, null, 0, 0)));
  }

  private static final RunEvents SILENCE =
      (RunEvents)
          Proxy.newProxyInstance(
              ResendTest.class.getClassLoader(),
              new Class<?>[] {RunEvents.class},
              (self, method, arguments) -> null);

  private static <T> CompletableFuture<T> handIn(RunWrite<T> write) {
    journal.append(write);
    return write.done();
  }

  @AfterAll
  static void close() {
    journal.close();
    side.close();
    all.close();
    proxy.close();
  }

  /** A prepared write: sending it returns the answer, without values that differ between runs. */
  record Ready(Supplier<Object> send, Supplier<String> state) {}

  /** All kinds of writes, with the command tag of their commit. */
  enum Kind {
    START_ALONE(ALONE) {
      @Override
      Ready ready(TestEngine engine) {
        RunId run = RunId.next();
        return new Ready(
            () -> plain(await(engine.engine().runs().start(engine.request("", run))), run),
            () -> state(run));
      }
    },
    START_IN_BATCH(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        List<RunId> runs = List.of(RunId.next(), RunId.next(), RunId.next());
        return new Ready(
            () -> {
              var answers =
                  engine
                      .engine()
                      .runs()
                      .startAll(runs.stream().map(run -> engine.request("", run)).toList());
              return List.of(
                  plain(await(answers.get(0)), runs.get(0)),
                  plain(await(answers.get(1)), runs.get(1)),
                  plain(await(answers.get(2)), runs.get(2)));
            },
            () -> runs.stream().map(ResendTest::state).toList().toString());
      }
    },
    START_HANDED_OVER(ALONE) {
      @Override
      Ready ready(TestEngine engine) {
        WorkerId worker = engine.register();
        Poll warm = engine.poll(worker, 10);
        engine.start();
        engine.report(done(await(warm.tasks()).get(0).claim(), "1"));
        Poll poll = engine.poll(worker, 10);
        long handedOver = engine.engine().metrics().dispatch().handedOver();
        RunId run = RunId.next();
        return new Ready(
            () -> {
              StartResult answer = await(engine.engine().runs().start(engine.request("", run)));
              Task task = await(poll.tasks()).get(0);
              return List.of(
                  plain(answer, run),
                  task.claim().runId().equals(run),
                  task.claim().epoch(),
                  task.input(),
                  engine.engine().metrics().dispatch().handedOver() - handedOver);
            },
            () -> state(run));
      }
    },
    START_WITH_EXTERNAL_ID(ALONE) {
      @Override
      Ready ready(TestEngine engine) {
        String external = "external " + RunId.next();
        RunId run = RunId.next(Shard.of(NAMESPACE, external));
        return new Ready(
            () -> plain(await(engine.engine().runs().start(engine.request(external, run))), run),
            () -> state(run));
      }
    },
    START_THAT_FINDS_AN_ACTIVE_RUN(ROLLBACK) {
      @Override
      Ready ready(TestEngine engine) {
        String external = "external " + RunId.next();
        RunId run = engine.start(external).runId();
        return new Ready(() -> plain(engine.start(external), run), () -> state(run));
      }
    },
    STEP_STARTED(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        return reporting(
            engine,
            claim,
            TestReports.started(claim, "a", 1, StepKind.FUNCTION, payload("1"), 300));
      }
    },
    STEP_DONE_ALONE("INSERT 0 1") {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        return reporting(engine, claim, stepDone(claim, "a", "1"));
      }
    },
    STEP_DONE_IN_BATCH(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        return reporting(
            engine,
            claim,
            stepDone(claim, "a", "1"),
            stepDone(claim, "b", "2"),
            stepDone(claim, "c", "3"));
      }
    },
    STEP_DONE_AFTER_A_FAILURE(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        engine.report(stepFailed(claim, "a", 1, QUICKLY));
        return reporting(engine, claim, stepDone(claim, "a", 2, "1"));
      }
    },
    STEP_FAILED_AND_PARKED(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        return reporting(engine, claim, stepFailed(claim, "a", 1, SLOWLY));
      }
    },
    STEP_FAILED_AND_KEPT(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        return reporting(engine, claim, stepFailed(claim, "a", 1, QUICKLY));
      }
    },
    STEP_FAILED_FOR_GOOD(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        return reporting(engine, claim, stepFailed(claim, "a", 1, ONCE));
      }
    },
    SLEEP(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        return reporting(engine, claim, sleep(claim, "nap", 60_000));
      }
    },
    DONE_ALONE(ALONE) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        return reporting(engine, claim, done(claim, "1"));
      }
    },
    DONE_WITH_LAST_STEP(ALONE) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        return reporting(engine, claim, stepDone(claim, "a", "1"), done(claim, "2"));
      }
    },
    DONE_IN_BATCH(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        return reporting(
            engine, claim, stepDone(claim, "a", "1"), stepDone(claim, "b", "2"), done(claim, "3"));
      }
    },
    STARTED_AND_DONE_IN_BATCH(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        return reporting(
            engine,
            claim,
            TestReports.started(claim, "a", 1, StepKind.FUNCTION, null, 300),
            stepDone(claim, "a", "1"),
            done(claim, "2"));
      }
    },
    DONE_OF_A_CHILD(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim parent = claim(engine);
        RunId child = RunId.next();
        await(
            engine
                .engine()
                .runs()
                .startFor(
                    engine.request("", child),
                    new StartRun.Lineage(Origin.CHILD, parent.runId(), "child")));
        Claim claim = engine.claimOne(engine.register()).claim();
        engine.report(TestReports.awaited(parent, List.of("child"), true, null));
        return new Ready(
            () -> plain(engine.report(done(claim, "1"))),
            () -> {
              await().until(() -> state(parent.runId()).startsWith("(PENDING"));
              return state(child) + state(parent.runId());
            });
      }
    },
    FAILED(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        return reporting(engine, claim, failed(claim, "no"));
      }
    },
    FAILED_WITH_A_HANDLER(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim =
            claimOf(engine, new TestOptions().withOnFailure("cleanup", "repairs").build(), null);
        return reporting(engine, claim, failed(claim, "no"));
      }
    },
    FAILED_AND_TRIED_AGAIN(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claimOf(engine, StartOptions.NONE, SLOWLY);
        return reporting(engine, claim, failed(claim, "no"));
      }
    },
    START_WITH_OPTIONS(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        RunId run = RunId.next();
        StartOptions options =
            new TestOptions()
                .withExecutionTimeoutMs(3_600_000)
                .withStepTimeoutMs(1_000)
                .withHeartbeatTimeoutMs(9_000)
                .withOnFailure("cleanup", "")
                .build();
        return new Ready(
            () ->
                plain(
                    await(engine.engine().runs().start(request(engine, run, options, null))), run),
            () -> state(run));
      }
    },
    START_THAT_IS_CONTENT_WITH_AN_ENDED_RUN(ROLLBACK) {
      @Override
      Ready ready(TestEngine engine) {
        String external = "external " + RunId.next();
        RunId run = engine.start(external).runId();
        await(engine.engine().runs().cancel(NAMESPACE, run));
        StartRequest request =
            new StartRequest(
                NAMESPACE,
                external,
                engine.queue().queue(),
                TestEngine.TYPE,
                "",
                payload("1"),
                null,
                null,
                new TestOptions().withIfExists(IfExists.USE_EXISTING_ANY).build());
        return new Ready(
            () -> plain(await(engine.engine().runs().start(request)), run), () -> state(run));
      }
    },
    TERMINATE(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        RunId run = engine.start();
        return new Ready(
            () -> await(engine.engine().runs().terminate(NAMESPACE, run, "enough")),
            () -> state(run));
      }
    },
    RESUME(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        engine.report(failed(claim, "no"));
        return new Ready(
            () -> await(engine.engine().runs().resume(NAMESPACE, claim.runId(), null, false)),
            () -> state(claim.runId()));
      }
    },
    RESUMED_BEHIND_A_CAUGHT_FAILURE(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        engine.report(stepFailed(claim, "caught", 1, ONCE));
        engine.report(stepDone(claim, "undo", "1"));
        engine.report(failed(claim, "no"));
        return new Ready(
            () -> await(engine.engine().runs().resume(NAMESPACE, claim.runId(), null, false)),
            () -> state(claim.runId()));
      }
    },
    RUN_EXPIRED(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim =
            claimOf(engine, new TestOptions().withExecutionTimeoutMs(3_600_000).build(), null);
        database.execute(
            "UPDATE kagzi.workflow_runs SET deadline_at = '2020-01-01Z' WHERE run_id = '"
                + claim.runId()
                + "'");
        return new Ready(
            () -> await(handIn(new ExpireRun(claim.runId()))), () -> state(claim.runId()));
      }
    },
    STEP_EXPIRED(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        engine.report(TestReports.started(claim, "a", 1, StepKind.FUNCTION, payload("1"), 300));
        return new Ready(
            () -> await(handIn(new ExpireStep(new StepRef(claim.runId(), "a", 1, claim.epoch())))),
            () -> state(claim.runId()));
      }
    },
    CRASHED_RUN_FAILED(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        RunId run = engine.start();
        database.execute(
            "UPDATE kagzi.workflow_runs SET crashes = 11 WHERE run_id = '" + run + "'");
        return new Ready(() -> await(handIn(new FailCrashedRun(run))), () -> state(run));
      }
    },
    FAILED_WITH_AN_OPEN_STEP(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        engine.report(TestReports.started(claim, "a", 1, StepKind.FUNCTION, null, 300));
        return reporting(engine, claim, failed(claim, "no"));
      }
    },
    DONE_WITH_AN_OPEN_STEP(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        engine.report(TestReports.started(claim, "a", 1, StepKind.FUNCTION, null, 300));
        return reporting(engine, claim, new Report.Done(claim, payload("1"), true));
      }
    },
    RELEASED(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        return reporting(engine, claim, new Report.Released(claim, 60_000, failure("other code")));
      }
    },
    PARKED(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        return reporting(
            engine, claim, TestReports.awaited(claim, List.of("a", "b"), false, 60_000L));
      }
    },
    PARKED_WITH_A_MESSAGE_WAITING(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        message(claim.runId(), "a");
        return reporting(engine, claim, TestReports.awaited(claim, List.of("a"), true, null));
      }
    },
    CHILD_STARTED(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        return reporting(engine, claim, child(claim, false));
      }
    },
    DETACHED_CHILD_STARTED(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        return reporting(engine, claim, child(claim, true));
      }
    },
    CANCEL_OF_A_PARENT(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        engine.report(child(claim, false));
        // Without messages: that of the cancelled child arrives and is deleted at any time.
        return new Ready(
            () -> await(engine.engine().runs().cancel(NAMESPACE, claim.runId())),
            () -> rows(claim.runId()));
      }
    },
    CANCEL_OF_A_WAITING_RUN(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        RunId run = engine.start();
        return new Ready(
            () -> await(engine.engine().runs().cancel(NAMESPACE, run)), () -> state(run));
      }
    },
    CANCEL_OF_A_CLAIMED_RUN(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        engine.report(TestReports.started(claim, "a", 1, StepKind.FUNCTION, payload("1"), 300));
        return new Ready(
            () -> await(engine.engine().runs().cancel(NAMESPACE, claim.runId())),
            () -> state(claim.runId()));
      }
    },
    CLAIM_FREED_FROM_A_DEAD_WORKER(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        return new Ready(
            () -> await(handIn(new TakeClaim(claim, TakeReason.WORKER_STALE))),
            () -> state(claim.runId()));
      }
    },
    CLAIM_FREED_THAT_WAS_NOT_TAKEN(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        return new Ready(
            () -> await(handIn(new TakeClaim(claim, TakeReason.TASK_NOT_TAKEN))),
            () -> state(claim.runId()));
      }
    },
    LEASE_RENEWED_BY_ITS_LANE(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        engine.start();
        WorkerId worker = engine.register();
        Claim claim = engine.claimOne(worker).claim();
        return new Ready(
            () -> await(handIn(new RenewLease(worker, claim, 60_000))), () -> state(claim.runId()));
      }
    },
    BEGIN_STEP(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        return new Ready(
            () -> {
              BegunStep begun =
                  await(
                      engine
                          .engine()
                          .reports()
                          .begin(
                              NAMESPACE,
                              claim.runId(),
                              "a",
                              StepKind.FUNCTION,
                              payload("1"),
                              SLOWLY,
                              0,
                              Caller.UNKNOWN));
              return List.of(
                  begun.execute(),
                  begun.ref().toString().replace(claim.runId().toString(), "run"),
                  String.valueOf(begun.cachedOutput()));
            },
            () -> state(claim.runId()));
      }
    },
    DELIVER_MESSAGES(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        engine.report(TestReports.awaited(claim, List.of("a", "b"), true, null));
        message(claim.runId(), "a");
        message(claim.runId(), "b");
        return new Ready(
            () -> await(handIn(new DeliverMessages(claim.runId()))), () -> state(claim.runId()));
      }
    },
    SIGNAL_THAT_IS_BUFFERED(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        return signalling(engine, engine.start());
      }
    },
    SIGNAL_THAT_WAKES_ITS_RUN(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        engine.report(receive(claim, null));
        return signalling(engine, claim.runId());
      }
    },
    CALLBACK(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        return reporting(engine, claim, callback(claim));
      }
    },
    ANSWER_OF_A_CALLBACK_TO_A_RUNNING_RUN(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        engine.report(callback(claim));
        return answering(engine, claim.runId());
      }
    },
    ANSWER_OF_A_CALLBACK_TO_A_PARKED_RUN(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        engine.report(callback(claim));
        engine.report(
            new Report.Receive(claim, "await:payment", "callback:payment", 60_000L, false));
        return answering(engine, claim.runId());
      }
    },
    SIGNAL_WITH_ITS_START(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        String external = "external " + RunId.next();
        RunId run = RunId.next(Shard.of(NAMESPACE, external));
        return new Ready(
            () -> {
              var result =
                  await(
                      engine.engine().runs().signalOrStart(engine.request(external, run), SIGNAL));
              return List.of(result.runId().equals(run), result.started(), result.known());
            },
            () -> state(run));
      }
    },
    RECEIVE_OF_A_BUFFERED_SIGNAL(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        await(engine.engine().runs().signal(NAMESPACE, claim.runId(), SIGNAL));
        return reporting(engine, claim, receive(claim, null));
      }
    },
    RECEIVE_AND_END(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        await(engine.engine().runs().signal(NAMESPACE, claim.runId(), SIGNAL));
        return reporting(engine, claim, receive(claim, null), done(claim, "1"));
      }
    },
    RECEIVE_THAT_PARKS_THE_RUN(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        return reporting(engine, claim, receive(claim, 60_000L));
      }
    },
    RECEIVE_THAT_TIMES_OUT(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        return reporting(engine, claim, receive(claim, 0L));
      }
    },
    RECEIVES_STOPPED(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        await(engine.engine().runs().signal(NAMESPACE, claim.runId(), SIGNAL));
        engine.report(new Report.Receive(claim, "race[a]/approval", "approval", null, true));
        return reporting(
            engine, claim, new Report.ReceivesStopped(claim, List.of("race[a]/"), null));
      }
    },
    RECEIVES_STOPPED_BY_A_WINNER(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        await(engine.engine().runs().signal(NAMESPACE, claim.runId(), SIGNAL));
        engine.report(new Report.Receive(claim, "race[a]/approval", "approval", null, true));
        Report.StepDone winner =
            new Report.StepDone(claim, "race", 1, StepKind.FUNCTION, null, payload("1"), 0, "");
        return reporting(
            engine, claim, new Report.ReceivesStopped(claim, List.of("race[a]/"), winner));
      }
    },
    REFUSED_CONTINUE_AS_NEW(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        engine.report(callback(claim));
        Report report =
            new Report.ContinueAsNew(claim, payload("1"), null, false, "continue-as-new");
        String run = claim.runId().toString();
        return new Ready(
            () -> engine.report(report).toString().replace(run, "run"),
            () -> state(claim.runId()).replace(run, "run"));
      }
    },
    VALUES_PUBLISHED(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        return reporting(engine, claim, published(claim), published(claim));
      }
    },
    VALUES_PUBLISHED_AND_END(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        return reporting(engine, claim, published(claim), done(claim, "1"));
      }
    },
    CONTINUE_AS_NEW(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        Claim claim = claim(engine);
        await(engine.engine().runs().signal(NAMESPACE, claim.runId(), SIGNAL));
        return reportingChain(engine, claim);
      }
    },
    HEARTBEAT(COMMIT) {
      @Override
      Ready ready(TestEngine engine) {
        RunId run = engine.start();
        WorkerId worker = engine.register();
        Claim claim = engine.claimOne(worker).claim();
        Claim lost = new Claim(RunId.next(), 1);
        return new Ready(
            () -> {
              var answer =
                  await(
                      engine
                          .engine()
                          .workers()
                          .heartbeat(
                              new WorkerHeartbeat(
                                  worker, List.of(claim, lost), 3, 5, 7, null, 0, 0)));
              return List.of(
                  answer.shouldDrain(), answer.lost().equals(List.of(lost)), answer.cancelled());
            },
            () -> state(run) + worker(worker));
      }
    };

    private final String tag;

    Kind(String tag) {
      this.tag = tag;
    }

    abstract Ready ready(TestEngine engine);
  }

  @ParameterizedTest
  @EnumSource
  void a_write_whose_answer_is_lost_is_written_once_and_answered_the_same(Kind kind) {
    Ready whole = kind.ready(onNewQueue());
    Object answer = whole.send.get();
    String state = whole.state.get();
    Ready cut = kind.ready(onNewQueue());
    int cuts = proxy.cuts().size();

    proxy.cutAnswer(kind.tag::equals);
    Object answerAfterCut = cut.send.get();

    assertThat(proxy.cuts()).hasSize(cuts + 1);
    assertThat(answerAfterCut).isEqualTo(answer);
    assertThat(cut.state.get()).isEqualTo(state);
  }

  @Test
  void heartbeats_of_one_worker_that_arrive_together_are_all_counted() {
    TestEngine engine = onNewQueue();
    WorkerId worker = engine.register();
    List<WorkerHeartbeat> heartbeats = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      heartbeats.add(new WorkerHeartbeat(worker, List.of(), i, 2, 1, null, 0, 0));
    }

    heartbeats.stream()
        .map(heartbeat -> engine.engine().workers().heartbeat(heartbeat))
        .toList()
        .forEach(TestEngine::await);

    assertThat(worker(worker)).isEqualTo("(19,40,20)");
  }

  private static TestEngine onNewQueue() {
    return all.onQueue("queue-" + QUEUES.incrementAndGet());
  }

  private static StartRequest request(
      TestEngine engine, RunId run, StartOptions options, @Nullable RetryPolicy policy) {
    return new StartRequest(
        NAMESPACE,
        "",
        engine.queue().queue(),
        TestEngine.TYPE,
        "",
        payload("1"),
        policy,
        run,
        options);
  }

  private static Claim claimOf(
      TestEngine engine, StartOptions options, @Nullable RetryPolicy policy) {
    await(engine.engine().runs().start(request(engine, RunId.next(), options, policy)));
    return engine.claimOne(engine.register()).claim();
  }

  private static Claim claim(TestEngine engine) {
    engine.start();
    return engine.claimOne(engine.register()).claim();
  }

  private static Ready reporting(TestEngine engine, Claim claim, Report... reports) {
    return new Ready(
        () -> engine.report(List.of(reports)).stream().map(ResendTest::plain).toList(),
        () -> state(claim.runId()));
  }

  /** The ids of the two runs differ in each round; their contents do not. */
  private static Ready reportingChain(TestEngine engine, Claim claim) {
    RunId successor = claim.runId().derived("continued");
    Report report = new Report.ContinueAsNew(claim, TestEngine.payload("2"), null, false, "");
    return new Ready(
        () -> engine.report(report).equals(new ReportResult.Continued(successor)),
        () -> state(claim.runId()) + state(successor));
  }

  private static Report receive(Claim claim, @Nullable Long timeoutMs) {
    return new Report.Receive(claim, "approval", "approval", timeoutMs, false);
  }

  private static Report published(Claim claim) {
    return new Report.ValuesPublished(
        claim, List.of(new PublishedValue("progress", "", 1, 1, payload("1"))));
  }

  private static Report callback(Claim claim) {
    return new Report.StepDone(claim, "payment", 1, StepKind.CALLBACK, null, payload("1"), 0, "");
  }

  private static Ready answering(TestEngine engine, RunId run) {
    return new Ready(
        () ->
            await(
                engine
                    .engine()
                    .runs()
                    .answerCallback(
                        NAMESPACE, run, "payment", new CallbackAnswer.Failed("no", "type"))),
        () -> state(run));
  }

  private static Ready signalling(TestEngine engine, RunId run) {
    return new Ready(
        () -> await(engine.engine().runs().signal(NAMESPACE, run, SIGNAL)).known(),
        () -> state(run));
  }

  private static Object plain(StartResult result, RunId run) {
    return List.of(result.runId().equals(run), result.existed());
  }

  /** Delays shrink while a write is sent again: they are compared in units of 30 seconds. */
  private static Object plain(ReportResult result) {
    return switch (result) {
      case ReportResult.RetryScheduled retry ->
          List.of("retry", retry.nextAttempt(), halves(retry.delayMs()), retry.claimKept());
      case ReportResult.Sleeping slept ->
          List.of("sleeping", halves(slept.remainingMs()), slept.claimKept());
      case ReportResult.Receiving waiting ->
          List.of(
              "receiving",
              waiting.remainingMs() == null ? -1 : halves(waiting.remainingMs()),
              waiting.claimKept());
      case ReportResult.ChildAccepted ignored -> "child";
      default -> result;
    };
  }

  /** On a separate queue, where no worker claims it. */
  private static Report child(Claim claim, boolean detached) {
    StartRequest start =
        new StartRequest(
            NAMESPACE,
            "",
            "resend-children",
            "child",
            "",
            payload("1"),
            null,
            null,
            StartOptions.NONE);
    return new Report.ChildStarted(claim, "child", 1, start, detached);
  }

  private static long halves(long millis) {
    return Math.ceilDiv(millis, 30_000L);
  }

  private static void message(RunId to, String step) {
    database.execute(
        """
        INSERT INTO kagzi.run_messages (to_run, step_id, what, data, metadata, created_at)
        VALUES ('%s', '%s', 'COMPLETED', '\\x31', '{}', kagzi.clock() + interval '1 hour')
        """
            .formatted(to, step));
  }

  /** All stored values of a run, without ids, and with times relative to now. */
  private static String state(RunId run) {
    return rows(run)
        + text(
            "SELECT count(*)::text AS text FROM kagzi.run_messages WHERE to_run = '" + run + "'");
  }

  private static String rows(RunId run) {
    return text(
        """
        SELECT (SELECT (status, epoch, ended_epoch, locked_by IS NOT NULL, attempts, crashes,
                        CASE WHEN available_at = 'infinity' THEN 'never'
                             WHEN available_at > kagzi.clock() + interval '40 s' THEN 'late'
                             WHEN available_at > kagzi.clock() THEN 'soon'
                             WHEN available_at IS NOT NULL THEN 'now' END,
                        error, blocked_by, waits_for, waits_for_all,
                        started_at IS NOT NULL, finished_at IS NOT NULL,
                        ended = run_id)::text
                  FROM kagzi.workflow_runs WHERE run_id = :run)
            || coalesce((SELECT string_agg((kind, data)::text, ' ' ORDER BY kind)
                  FROM kagzi.workflow_payloads WHERE run_id = :run), '-')
            || coalesce((SELECT string_agg(
                          (step_id, attempt, epoch, run_attempt, kind, status, final, input, output,
                           error, retry_policy, due_at IS NOT NULL, finished_at IS NOT NULL)::text,
                          ' ' ORDER BY step_id, attempt)
                  FROM kagzi.step_runs WHERE run_id = :run), '-')
            || coalesce((SELECT string_agg((signal_no, signal_id, name, data, step_id, answer)::text, ' '
                                           ORDER BY signal_no)
                  FROM kagzi.run_signals WHERE run_id = :run), '-')
            || coalesce((SELECT string_agg((name, scope, sequence, version % 4294967296, data)::text, ' ')
                  FROM kagzi.published_values WHERE run_id = :run), '-')
            || (SELECT count(*) FROM kagzi.workflow_runs WHERE parent_run_id = :run) AS text
        """
            .replace(":run", "'" + run + "'"));
  }

  private static String worker(WorkerId worker) {
    return text(
        """
        SELECT (active_count, total_completed, total_failed)::text AS text
          FROM kagzi.workers WHERE worker_id = '%s'
        """
            .formatted(worker));
  }

  private static String text(String sql) {
    return database.run(session -> session.query(sql).first(row -> row.text("text")).orElseThrow());
  }
}
