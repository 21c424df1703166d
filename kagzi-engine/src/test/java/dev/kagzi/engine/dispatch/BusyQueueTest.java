package dev.kagzi.engine.dispatch;

import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.config.DispatchConfig;
import dev.kagzi.engine.config.WorkerConfig;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.WorkerId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A task queue whose claim queries never stop, so that it is never quiet. */
class BusyQueueTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final Duration TIME_LIMIT = Duration.ofSeconds(15);

  private TestEngine engine;
  private String queue;

  @BeforeEach
  void open(TestInfo test) {
    queue = test.getTestMethod().orElseThrow().getName();
    DispatchConfig defaults = DispatchConfig.defaults();
    Duration never = Duration.ofHours(1);
    // No slots are kept between two polls: each start needs a claim query.
    engine =
        TestEngine.start(
            database.config(),
            queue,
            EngineConfig.defaults()
                .withWorkers(
                    new WorkerConfig(Duration.ofSeconds(3), Duration.ofMinutes(1), never, never))
                .withDispatch(
                    new DispatchConfig(
                        defaults.pollMax(),
                        defaults.firstLease(),
                        defaults.fallbackInterval(),
                        Duration.ZERO,
                        defaults.answerBytesMax(),
                        defaults.claimers())));
  }

  @AfterEach
  void close() {
    engine.close();
  }

  /** Starts a run, and polls for more runs than one, so that the claim query sets the mark. */
  private List<RunId> startAndPoll(WorkerId worker) {
    engine.start();
    List<Task> tasks = await(engine.poll(worker, 20).tasks());
    List<Report> reports = new ArrayList<>();
    tasks.forEach(task -> reports.add(done(task.claim(), "1")));
    engine.report(reports);
    return tasks.stream().map(task -> task.claim().runId()).toList();
  }

  /** As if its commit came a minute after its due time was computed. No event announces it. */
  private RunId insertLate() {
    return insert(TYPE, "1 minute");
  }

  /** No event announces the run. */
  private RunId insert(String type, String dueFor) {
    RunId run = RunId.next();
    database.execute(
        """
        INSERT INTO kagzi.workflow_runs
               (run_id, namespace, task_queue, workflow_type, version, status, available_at, created_at)
        VALUES ('%s', 'default', '%s', '%s', '', 'PENDING',
                kagzi.clock() - interval '%s', kagzi.clock())
        """
            .formatted(run, queue, type, dueFor));
    return run;
  }

  /** Polls for a type of which no run is started. */
  private Poll pollIdle() {
    return engine
        .engine()
        .tasks()
        .poll(
            new PollRequest(
                engine.queue(),
                engine.register(),
                List.of(new PollRequest.Wanted("idle", "", 0)),
                1,
                60_000));
  }

  @Test
  void a_run_whose_event_is_lost_is_found_although_runs_of_another_type_keep_the_queue_busy() {
    WorkerId worker = engine.register();
    Poll idle = pollIdle();
    startAndPoll(worker);
    startAndPoll(worker);
    RunId unannounced = insert("idle", "0 seconds");

    long begun = System.nanoTime();
    while (!idle.tasks().isDone() && System.nanoTime() - begun < TIME_LIMIT.toNanos()) {
      startAndPoll(worker);
    }

    assertThat(idle.tasks()).isDone();
    assertThat(await(idle.tasks()).getFirst().claim().runId()).isEqualTo(unannounced);
  }

  @Test
  void a_run_below_the_low_water_mark_is_found_although_the_queue_is_never_quiet() {
    WorkerId worker = engine.register();
    // Waits all the time: a queue without polls forgets its marks.
    Poll waiting = pollIdle();
    startAndPoll(worker);
    startAndPoll(worker);
    RunId late = insertLate();

    boolean found = false;
    long begun = System.nanoTime();
    while (!found && System.nanoTime() - begun < TIME_LIMIT.toNanos()) {
      found = startAndPoll(worker).contains(late);
    }

    assertThat(found).isTrue();
    assertThat(engine.engine().metrics().dispatch().fallbackClaimed()).isPositive();
    assertThat(waiting.tasks()).isNotDone();
  }
}
