package dev.kagzi.engine;

import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.payload;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.config.DispatchConfig;
import dev.kagzi.engine.dispatch.Poll;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.run.RunEnd;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.WorkerId;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Counts what runs of one server cost while another server with workers is on the database. */
class ServerCostTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final int RUNS = 50;

  private TestEngine here;
  private TestEngine there;

  @BeforeEach
  void open(TestInfo test) {
    String queue = test.getTestMethod().orElseThrow().getName();
    EngineConfig config =
        EngineConfig.defaults()
            .withDispatch(
                DispatchConfig.defaults()
                    .withFallbackInterval(Duration.ofHours(1))
                    .withFirstLease(Duration.ofMinutes(1)));
    here = TestEngine.start(database.config(), queue, config);
    there = TestEngine.start(database.config(), queue, config);
  }

  @AfterEach
  void close() {
    there.close();
    here.close();
  }

  private static double messages(TestEngine engine) {
    return engine
        .engine()
        .metrics()
        .registry()
        .get("kagzi.server.messages.received")
        .counter()
        .count();
  }

  private static double endsRead(TestEngine engine) {
    return engine.engine().metrics().registry().get("kagzi.run.ends.read").counter().count();
  }

  private static long notices(TestEngine engine) {
    return engine
        .engine()
        .metrics()
        .statements()
        .statementsBySession()
        .getOrDefault("notifier", 0L);
  }

  /** A server publishes nothing before it knows that it is not alone. */
  private void awaitReach() {
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () -> {
              here.start();
              return messages(there) > 0;
            });
  }

  /** A run that one server publishes while it settles makes the other one query again. */
  private void settle(WorkerId worker, WorkerId other) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(60))
        .until(
            () -> {
              double before = messages(here) + messages(there);
              here.settle(worker);
              there.settle(other);
              // A message waits for others for 10 ms.
              TimeUnit.MILLISECONDS.sleep(200);
              return messages(here) + messages(there) == before;
            });
  }

  @Test
  void runs_that_start_and_end_at_one_server_send_nothing_to_the_other() {
    awaitReach();
    WorkerId worker = here.register();
    WorkerId other = there.register();
    settle(worker, other);
    Poll waiting = there.poll(other, 10);
    long notices = notices(here);
    double messages = messages(there);
    long rounds = there.engine().metrics().dispatch().claimRounds();
    long handedOver = here.engine().metrics().dispatch().handedOver();

    for (int i = 0; i < RUNS; i++) {
      Poll poll = here.poll(worker, 10);
      RunId run = here.start();
      CompletableFuture<Optional<RunEnd>> end = here.end(run);
      Task task = await(poll.tasks()).get(0);
      here.report(done(task.claim(), "1"));
      assertThat(await(end).orElseThrow().status()).isEqualTo(RunStatus.COMPLETED);
    }

    assertThat(here.engine().metrics().dispatch().handedOver() - handedOver).isEqualTo(RUNS);
    assertThat(notices(here)).isEqualTo(notices);
    assertThat(messages(there)).isEqualTo(messages);
    assertThat(there.engine().metrics().dispatch().claimRounds()).isEqualTo(rounds);
    assertThat(endsRead(here)).isZero();
    assertThat(waiting.tasks()).isNotDone();
  }

  @Test
  void an_end_is_published_if_a_caller_of_the_other_server_awaits_it() {
    RunId run = here.start();
    Task task = here.claimOne(here.register());
    double before = messages(here);
    CompletableFuture<Optional<RunEnd>> elsewhere = there.end(run);
    // The other server has read the open run and asked for its end.
    Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> endsRead(there) > 0);

    long endedNanos = System.nanoTime();
    here.report(done(task.claim(), "\"out\""));
    RunEnd end = await(elsewhere).orElseThrow();

    assertThat(end.output()).isEqualTo(payload("\"out\""));
    assertThat(messages(here)).isGreaterThan(before);
    // The fallback query of a waiting caller comes after two seconds.
    assertThat(Duration.ofNanos(System.nanoTime() - endedNanos))
        .isLessThan(Duration.ofMillis(1_900));
  }
}
