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
  private final RunWatcher watches = new RunWatcher(connection);

  @AfterEach
  void close() {
    watches.close();
    connection.close();
    server.close();
  }

  @Test
  void a_run_that_is_forgotten_and_watched_again_in_one_breath_hears_its_end() throws Exception {
    String run = startRun();
    CompletableFuture<WorkflowEnd> first = watches.watch(run);
    awaitSaid(1, WatchWorkflowsRequest::getWatchRunIdsList, run);
    CountDownLatch timers = holdTimers();
    gather();

    watches.forget(run, first);
    CompletableFuture<WorkflowEnd> second = watches.watch(run);
    timers.countDown();

    awaitSaid(1, WatchWorkflowsRequest::getForgetRunIdsList, run);
    awaitSaid(2, WatchWorkflowsRequest::getWatchRunIdsList, run);
    end(run);
    assertThat(second.get(10, TimeUnit.SECONDS).getRunId()).isEqualTo(run);
    assertThat(first).isNotDone();
  }

  @Test
  void runs_watched_before_and_during_a_break_of_the_stream_hear_their_ends() throws Exception {
    String kept = startRun();
    String again = startRun();
    String fresh = startRun();
    CompletableFuture<WorkflowEnd> keptEnd = watches.watch(kept);
    CompletableFuture<WorkflowEnd> first = watches.watch(again);
    awaitSaid(1, WatchWorkflowsRequest::getWatchRunIdsList, kept);
    awaitSaid(1, WatchWorkflowsRequest::getWatchRunIdsList, again);
    // While the timers stand, the broken stream is not opened again.
    CountDownLatch timers = holdTimers();
    server.stop();
    await().until(this::isTimerDue);

    watches.forget(again, first);
    CompletableFuture<WorkflowEnd> second = watches.watch(again);
    CompletableFuture<WorkflowEnd> freshEnd = watches.watch(fresh);
    server.start();
    timers.countDown();

    awaitSaid(1, WatchWorkflowsRequest::getWatchRunIdsList, fresh);
    for (String run : List.of(kept, again, fresh)) {
      end(run);
    }
    assertThat(keptEnd.get(10, TimeUnit.SECONDS).getRunId()).isEqualTo(kept);
    assertThat(second.get(10, TimeUnit.SECONDS).getRunId()).isEqualTo(again);
    assertThat(freshEnd.get(10, TimeUnit.SECONDS).getRunId()).isEqualTo(fresh);
  }

  @Test
  void a_watch_that_went_into_a_dying_stream_is_said_again_on_the_next() throws Exception {
    String ended = startRun();
    String run = startRun();
    CountDownLatch reached = new CountDownLatch(1);
    CountDownLatch channel = new CountDownLatch(1);
    // While an end is being told, the channel hears nothing else, such as that it is broken.
    watches
        .watch(ended)
        .thenRun(
            () -> {
              reached.countDown();
              pass(channel);
            });
    end(ended);
    assertThat(reached.await(10, TimeUnit.SECONDS)).isTrue();

    server.stop();
    CompletableFuture<WorkflowEnd> end = watches.watch(run);
    awaitSendsSoFar();
    server.start();
    channel.countDown();

    awaitSaid(1, WatchWorkflowsRequest::getWatchRunIdsList, run);
    end(run);
    assertThat(end.get(10, TimeUnit.SECONDS).getRunId()).isEqualTo(run);
  }

  @Test
  void one_that_loses_patience_takes_nothing_from_another_who_waits_for_the_same_run()
      throws Exception {
    String run = startRun();
    CompletableFuture<WorkflowEnd> hasty = watches.watch(run);
    CompletableFuture<WorkflowEnd> patient = watches.watch(run);

    watches.forget(run, hasty);
    awaitSendsSoFar();

    end(run);
    assertThat(patient.get(10, TimeUnit.SECONDS).getRunId()).isEqualTo(run);
  }

  @Test
  void one_that_loses_patience_late_takes_nothing_from_another_who_watches_anew() throws Exception {
    String run = startRun();
    server.fail("WatchWorkflows", Status.PERMISSION_DENIED);
    CompletableFuture<WorkflowEnd> refused = watches.watch(run);
    assertThatThrownBy(() -> refused.get(10, TimeUnit.SECONDS))
        .hasCauseInstanceOf(RequestRefusedException.class);
    server.heal("WatchWorkflows");
    CompletableFuture<WorkflowEnd> anew = watches.watch(run);

    watches.forget(run, refused);
    awaitSendsSoFar();

    end(run);
    assertThat(anew.get(10, TimeUnit.SECONDS).getRunId()).isEqualTo(run);
  }

  private String startRun() {
    String runId = UUID.randomUUID().toString();
    server.state.start(StartWorkflowRequest.newBuilder().setRunId(runId).build());
    return runId;
  }

  private void end(String runId) {
    server.state.with(runId, run -> run.status = WorkflowStatus.WORKFLOW_STATUS_COMPLETED);
  }

  private void awaitSaid(
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
              pass(gate);
            });
    assertThat(reached.await(10, TimeUnit.SECONDS)).isTrue();
    return gate;
  }

  /** With the timers held: whatever is said from now on leaves together. */
  private void gather() {
    while (!isTimerDue()) {
      watches.watch(startRun());
    }
  }

  private boolean isTimerDue() {
    return !connection.timers().getQueue().isEmpty();
  }

  /** What was to be said a moment later has been said. */
  private void awaitSendsSoFar() throws Exception {
    connection.timers().schedule(() -> {}, 2, TimeUnit.MILLISECONDS).get(10, TimeUnit.SECONDS);
  }

  private static void pass(CountDownLatch gate) {
    try {
      gate.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
