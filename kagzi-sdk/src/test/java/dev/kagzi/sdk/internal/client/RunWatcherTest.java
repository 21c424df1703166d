package dev.kagzi.sdk.internal.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.WatchWorkflowsRequest;
import dev.kagzi.protocol.v1.WorkflowEnd;
import dev.kagzi.protocol.v1.WorkflowStatus;
import dev.kagzi.sdk.RequestRefusedException;
import dev.kagzi.sdk.fake.FakeServer;
import dev.kagzi.sdk.internal.wire.Channels;
import dev.kagzi.sdk.internal.wire.Connection;
import dev.kagzi.sdk.internal.wire.Credentials;
import io.grpc.Status;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RunWatcherTest {
  private final FakeServer server = new FakeServer();
  private final Connection connection =
      new Connection(
          Channels.open(List.of(server.address()), Credentials.NONE, UnaryOperator.identity()),
          server.address(),
          "default",
          Duration.ofSeconds(10));
  private final RunWatcher watcher = new RunWatcher(connection);

  @AfterEach
  void close() {
    watcher.close();
    connection.close();
    server.close();
  }

  @Test
  void a_run_unwatched_and_watched_again_in_one_message_receives_its_end() throws Exception {
    String run = startRun();
    CompletableFuture<WorkflowEnd> first = watcher.watch(run);
    awaitMessages(1, WatchWorkflowsRequest::getWatchRunIdsList, run);
    CountDownLatch timers = holdTimers();
    awaitBatching();

    watcher.unwatch(run, first);
    CompletableFuture<WorkflowEnd> second = watcher.watch(run);
    timers.countDown();

    awaitMessages(1, WatchWorkflowsRequest::getForgetRunIdsList, run);
    awaitMessages(2, WatchWorkflowsRequest::getWatchRunIdsList, run);
    end(run);
    assertThat(second.get(10, TimeUnit.SECONDS).getRunId()).isEqualTo(run);
    assertThat(first).isNotDone();
  }

  @Test
  void a_few_runs_are_watched_at_once_and_many_in_one_message() throws Exception {
    CountDownLatch timers = holdTimers();
    for (int i = 0; i < 8; i++) {
      String run = startRun();
      watcher.watch(run);
      awaitMessages(1, WatchWorkflowsRequest::getWatchRunIdsList, run);
    }

    awaitBatching();

    timers.countDown();
  }

  @Test
  void runs_watched_before_and_during_a_break_of_the_stream_receive_their_ends() throws Exception {
    String kept = startRun();
    String again = startRun();
    String fresh = startRun();
    CompletableFuture<WorkflowEnd> keptEnd = watcher.watch(kept);
    CompletableFuture<WorkflowEnd> first = watcher.watch(again);
    awaitMessages(1, WatchWorkflowsRequest::getWatchRunIdsList, kept);
    awaitMessages(1, WatchWorkflowsRequest::getWatchRunIdsList, again);
    // While the timers are held, the broken stream is not opened again.
    CountDownLatch timers = holdTimers();
    server.stop();
    await().until(this::isTimerDue);

    watcher.unwatch(again, first);
    CompletableFuture<WorkflowEnd> second = watcher.watch(again);
    CompletableFuture<WorkflowEnd> freshEnd = watcher.watch(fresh);
    server.start();
    timers.countDown();

    awaitMessages(1, WatchWorkflowsRequest::getWatchRunIdsList, fresh);
    for (String run : List.of(kept, again, fresh)) {
      end(run);
    }
    assertThat(keptEnd.get(10, TimeUnit.SECONDS).getRunId()).isEqualTo(kept);
    assertThat(second.get(10, TimeUnit.SECONDS).getRunId()).isEqualTo(again);
    assertThat(freshEnd.get(10, TimeUnit.SECONDS).getRunId()).isEqualTo(fresh);
  }

  @Test
  void a_watch_sent_on_a_dying_stream_is_sent_again_on_the_next() throws Exception {
    String ended = startRun();
    String run = startRun();
    CountDownLatch reached = new CountDownLatch(1);
    CountDownLatch channel = new CountDownLatch(1);
    // While this callback blocks the channel's thread, the channel does not notice that it is
    // broken.
    watcher
        .watch(ended)
        .thenRun(
            () -> {
              reached.countDown();
              awaitLatch(channel);
            });
    end(ended);
    assertThat(reached.await(10, TimeUnit.SECONDS)).isTrue();

    server.stop();
    CompletableFuture<WorkflowEnd> end = watcher.watch(run);
    awaitScheduledSends();
    server.start();
    channel.countDown();

    awaitMessages(1, WatchWorkflowsRequest::getWatchRunIdsList, run);
    end(run);
    assertThat(end.get(10, TimeUnit.SECONDS).getRunId()).isEqualTo(run);
  }

  @Test
  void a_waiter_that_times_out_does_not_affect_another_waiter_of_the_same_run() throws Exception {
    String run = startRun();
    CompletableFuture<WorkflowEnd> timedOut = watcher.watch(run);
    CompletableFuture<WorkflowEnd> waiting = watcher.watch(run);

    watcher.unwatch(run, timedOut);
    awaitScheduledSends();

    end(run);
    assertThat(waiting.get(10, TimeUnit.SECONDS).getRunId()).isEqualTo(run);
  }

  @Test
  void a_late_unwatch_does_not_affect_a_later_watch_of_the_same_run() throws Exception {
    String run = startRun();
    server.fail("WatchWorkflows", Status.PERMISSION_DENIED);
    CompletableFuture<WorkflowEnd> refused = watcher.watch(run);
    assertThatThrownBy(() -> refused.get(10, TimeUnit.SECONDS))
        .hasCauseInstanceOf(RequestRefusedException.class);
    server.heal("WatchWorkflows");
    CompletableFuture<WorkflowEnd> later = watcher.watch(run);

    watcher.unwatch(run, refused);
    awaitScheduledSends();

    end(run);
    assertThat(later.get(10, TimeUnit.SECONDS).getRunId()).isEqualTo(run);
  }

  private String startRun() {
    String runId = UUID.randomUUID().toString();
    server.state.start(StartWorkflowRequest.newBuilder().setRunId(runId).build());
    return runId;
  }

  private void end(String runId) {
    server.state.with(runId, run -> run.status = WorkflowStatus.WORKFLOW_STATUS_COMPLETED);
  }

  private void awaitMessages(
      int times, Function<WatchWorkflowsRequest, List<String>> what, String runId) {
    await()
        .until(
            () ->
                server.workflows.watches.stream()
                        .filter(message -> what.apply(message).contains(runId))
                        .count()
                    >= times);
  }

  private CountDownLatch holdTimers() throws InterruptedException {
    CountDownLatch reached = new CountDownLatch(1);
    CountDownLatch gate = new CountDownLatch(1);
    connection
        .timers()
        .execute(
            () -> {
              reached.countDown();
              awaitLatch(gate);
            });
    assertThat(reached.await(10, TimeUnit.SECONDS)).isTrue();
    return gate;
  }

  /** With the timers held, waits until later requests are batched in one message. */
  private void awaitBatching() {
    while (!isTimerDue()) {
      watcher.watch(startRun());
    }
  }

  private boolean isTimerDue() {
    return !connection.timers().getQueue().isEmpty();
  }

  /** Waits until scheduled messages have been sent. */
  private void awaitScheduledSends() throws Exception {
    connection.timers().schedule(() -> {}, 2, TimeUnit.MILLISECONDS).get(10, TimeUnit.SECONDS);
  }

  private static void awaitLatch(CountDownLatch gate) {
    try {
      gate.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
