package dev.kagzi.engine.dispatch;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.payload;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.Holds;
import dev.kagzi.engine.TestClock;
import dev.kagzi.engine.TestConfigs;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.config.DispatchConfig;
import dev.kagzi.engine.config.JournalConfig;
import dev.kagzi.engine.config.WorkerConfig;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.run.StartResult;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.worker.WorkerRegistration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Claim queries start at a low-water mark of due times: no due run is below it. */
class LowWaterTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final long POLL_MS = 4_000;

  private final TestClock clock = new TestClock(database);
  private Holds holds;
  private TestEngine here;
  private TestEngine there;
  private String queue;

  @BeforeEach
  void open(TestInfo test) {
    queue = test.getTestMethod().orElseThrow().getName();
    Duration never = Duration.ofHours(1);
    // No fallback check, which goes below the mark. No worker times out while the clock is moved.
    EngineConfig config =
        TestConfigs.withJournal(
                new JournalConfig(
                    1, 64 << 20, 8 << 20, 2_000, Duration.ofSeconds(5), Duration.ofSeconds(10)))
            .withDispatch(
                DispatchConfig.defaults()
                    .withFallbackInterval(never)
                    .withFirstLease(Duration.ofMinutes(10)))
            .withWorkers(new WorkerConfig(Duration.ofSeconds(3), never, never, never));
    holds = new Holds(database.config());
    here = TestEngine.start(database.config(), queue, config);
    there = TestEngine.start(database.config(), queue, config, holds);
  }

  @AfterEach
  void close() {
    clock.reset();
    there.close();
    here.close();
  }

  private WorkerId register(String type) {
    return await(
        here.engine()
            .workers()
            .register(
                new WorkerRegistration(
                    here.queue(),
                    List.of(new TypeVersion(type, "")),
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

  private Poll poll(WorkerId worker, String type, long waitMs) {
    return here.engine()
        .tasks()
        .poll(
            new PollRequest(
                here.queue(), worker, List.of(new PollRequest.Wanted(type, "", 0)), 2, waitMs));
  }

  private StartRequest request(String type) {
    return new StartRequest(
        NAMESPACE, "", queue, type, "", payload("1"), null, null, StartOptions.NONE);
  }

  private RunId start(String type) {
    return await(here.engine().runs().start(request(type))).runId();
  }

  private static List<RunId> runs(Poll poll) {
    return await(poll.tasks()).stream().map(task -> task.claim().runId()).toList();
  }

  /** A claim query with two slots that finds one run sets the mark before its poll is answered. */
  private void setLowWaterMark(WorkerId worker, String type) {
    Poll first = poll(worker, type, POLL_MS);
    RunId run = start(type);
    Task task = await(first.tasks()).get(0);
    here.report(new Report.Released(task.claim(), 0, null));
    List<Task> found = await(poll(worker, type, POLL_MS).tasks());

    assertThat(found).extracting(Task::claim).containsExactly(new Claim(run, 2));
    here.report(done(found.get(0).claim(), "1"));
  }

  @Test
  void a_run_that_is_due_below_the_mark_of_another_type_is_found() {
    // Waits all the time: a queue without polls forgets its marks.
    Poll waiting = poll(register("idle"), "idle", 60_000);
    WorkerId rare = register("rare");
    setLowWaterMark(rare, "rare");
    await(here.engine().workers().deregister(null, rare, false));
    RunId run = start("rare");

    clock.ahead(Duration.ofMinutes(1));
    setLowWaterMark(register("quick"), "quick");
    List<RunId> found = runs(poll(register("rare"), "rare", POLL_MS));

    assertThat(found).containsExactly(run);
    assertThat(waiting.tasks()).isNotDone();
  }

  /** A run is due when its transaction begins, but visible only after the commit. */
  @Test
  void a_run_that_a_slow_commit_makes_due_in_the_past_is_found() throws Exception {
    WorkerId worker = here.register();

    List<CompletableFuture<StartResult>> slow;
    Poll waiting;
    try (Holds.Hold commit = holds.commitAfter("INSERT INTO kagzi.workflow_runs")) {
      slow = there.engine().runs().startAll(List.of(request(TYPE), request(TYPE)));
      commit.awaitReached();
      clock.ahead(Duration.ofSeconds(10));
      setLowWaterMark(worker, TYPE);
      waiting = poll(worker, TYPE, POLL_MS);
    }

    List<RunId> started = slow.stream().map(start -> await(start).runId()).toList();
    List<RunId> found = new ArrayList<>(runs(waiting));
    // The other server announces both runs in one message, or each in its own.
    if (found.size() < started.size()) {
      found.addAll(runs(poll(worker, TYPE, POLL_MS)));
    }
    assertThat(found).containsExactlyInAnyOrderElementsOf(started);
  }
}
