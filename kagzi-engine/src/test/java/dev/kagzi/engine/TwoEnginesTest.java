package dev.kagzi.engine;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.payload;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.config.DispatchConfig;
import dev.kagzi.engine.dispatch.Poll;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.worker.AttachListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Several servers on one database: messages carry the changes of one to the others. */
class TwoEnginesTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final int RUNS = 1_000;

  private Holds holds;
  private TestEngine here;
  private TestEngine there;

  @BeforeEach
  void open(TestInfo test) {
    String queue = test.getTestMethod().orElseThrow().getName();
    // Long fallback intervals: only messages can cause the effects.
    EngineConfig config =
        EngineConfig.defaults()
            .withDispatch(
                DispatchConfig.defaults()
                    .withFallbackInterval(Duration.ofHours(1))
                    .withFirstLease(Duration.ofMinutes(1)));
    holds = new Holds(database.config());
    here = TestEngine.start(database.config(), queue, config);
    there = TestEngine.start(database.config(), queue, config, holds);
  }

  @AfterEach
  void close() {
    there.close();
    here.close();
  }

  /** A busy machine may delay one round; a delay by the engine would affect all of them. */
  @Test
  void starts_on_one_are_picked_up_by_a_worker_on_the_other() throws Exception {
    WorkerId worker = there.register();
    Duration limit = Duration.ofMillis(50);

    Duration median = medianOfRound(worker);
    for (int more = 0; more < 2 && median.compareTo(limit) >= 0; more++) {
      median = medianOfRound(worker);
    }

    assertThat(median).isLessThan(limit);
    assertThat(there.engine().metrics().dispatch().fallbackClaimed()).isZero();
  }

  /** The time from the call of a start on one server to the task at a worker of the other. */
  private Duration medianOfRound(WorkerId worker) throws Exception {
    Map<RunId, Long> startedAt = new ConcurrentHashMap<>();
    List<Long> tookNanos = new ArrayList<>();
    List<CompletableFuture<?>> reported = new ArrayList<>();
    CompletableFuture<Void> working =
        CompletableFuture.runAsync(
            () -> {
              while (tookNanos.size() < RUNS) {
                List<Task> tasks = await(there.poll(worker, 100).tasks());
                long now = System.nanoTime();
                List<Report> ends = new ArrayList<>();
                for (Task task : tasks) {
                  tookNanos.add(now - startedAt.getOrDefault(task.claim().runId(), now));
                  ends.add(done(task.claim(), "1"));
                }
                reported.add(there.engine().reports().accept(NAMESPACE, ends));
              }
            });
    Semaphore inFlight = new Semaphore(4);
    for (int i = 0; i < RUNS; i++) {
      inFlight.acquire();
      RunId run = RunId.next();
      startedAt.put(run, System.nanoTime());
      here.engine()
          .runs()
          .start(here.request("", run))
          .whenComplete((result, failure) -> inFlight.release());
    }
    working.get(30, TimeUnit.SECONDS);
    reported.forEach(TestEngine::await);
    tookNanos.sort(null);
    return Duration.ofNanos(tookNanos.get(RUNS / 2));
  }

  @Test
  void an_end_on_one_completes_a_wait_on_the_other() {
    RunId run = here.start();
    var completion = here.end(run);
    Task task = there.claimOne(there.register());

    long endedAt = System.nanoTime();
    there.report(done(task.claim(), "\"out\""));
    var end = await(completion).orElseThrow();

    assertThat(end.status()).isEqualTo(RunStatus.COMPLETED);
    assertThat(end.output()).isEqualTo(payload("\"out\""));
    // The fallback query of a waiting caller comes after two seconds.
    assertThat(Duration.ofNanos(System.nanoTime() - endedAt)).isLessThan(Duration.ofMillis(1_900));
  }

  @Test
  void a_cancel_on_one_stops_a_worker_that_is_attached_to_the_other() {
    WorkerId worker = there.register();
    CompletableFuture<Boolean> attached = new CompletableFuture<>();
    CompletableFuture<List<Claim>> stopped = new CompletableFuture<>();
    CompletableFuture<Boolean> drained = new CompletableFuture<>();
    var unused =
        there
            .engine()
            .workers()
            .attach(
                NAMESPACE,
                worker,
                new AttachListener() {
                  @Override
                  public void attached() {
                    attached.complete(true);
                  }

                  @Override
                  public void stop(List<Claim> claims, RunStatus status) {
                    stopped.complete(claims);
                  }

                  @Override
                  public void stepEnded(List<Claim> claims) {}

                  @Override
                  public void cancelRequested(List<Claim> claims) {}

                  @Override
                  public void drain() {
                    drained.complete(true);
                  }

                  @Override
                  public void closed(Refusal why) {}
                });
    await(attached);
    RunId run = here.start();
    Task task = there.claimOne(worker);

    await(here.engine().runs().cancel(NAMESPACE, run));
    await(here.engine().workers().drain(null, worker));

    assertThat(await(stopped)).containsExactly(task.claim());
    assertThat(await(drained)).isTrue();
  }

  @Test
  void a_release_and_a_sleep_on_one_wake_a_poll_on_the_other() {
    RunId run = here.start();
    Task first = here.claimOne(here.register());
    Poll waiting = there.poll(there.register(), 1);

    here.report(TestEngine.sleep(first.claim(), "nap", 1_100));
    Task second = await(waiting.tasks()).get(0);
    Poll again = there.poll(there.register(), 1);
    here.report(new Report.Released(second.claim(), 0, null));

    assertThat(second.claim()).isEqualTo(new Claim(run, 2));
    assertThat(await(again.tasks()).get(0).claim()).isEqualTo(new Claim(run, 3));
  }

  /** Messages that were sent while the listener was disconnected are replaced by a full refresh. */
  @Test
  void a_listener_that_lost_its_connection_reconnects_and_refreshes_everything() throws Exception {
    WorkerId worker = there.register();
    Task warm = warmUp(worker);
    Poll waiting = there.poll(worker, 2);
    RunId awaited = here.start();
    Task task = await(waiting.tasks()).get(0);
    var completion = there.end(awaited);
    Poll next = there.poll(worker, 2);

    int cut = holds.cut("LISTEN");
    RunId unannounced = here.start();
    here.report(done(task.claim(), "1"));
    List<Task> found = await(next.tasks());
    Poll last = there.poll(worker, 2);
    RunId after = here.start();

    assertThat(cut).isEqualTo(1);
    assertThat(warm.claim().epoch()).isEqualTo(1);
    assertThat(found).extracting(t -> t.claim().runId()).containsExactly(unannounced);
    assertThat(await(completion).orElseThrow().status()).isEqualTo(RunStatus.COMPLETED);
    assertThat(await(last.tasks())).extracting(t -> t.claim().runId()).containsExactly(after);
    assertThat(there.engine().metrics().dispatch().fallbackClaimed()).isZero();
  }

  private Task warmUp(WorkerId worker) {
    Poll poll = there.poll(worker, 2);
    here.start();
    Task task = await(poll.tasks()).get(0);
    there.report(done(task.claim(), "1"));
    return task;
  }
}
