package dev.kagzi.engine.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.config.DispatchConfig;
import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.memory.ByteBudget;
import dev.kagzi.engine.metrics.DispatchMetrics;
import dev.kagzi.engine.metrics.Meters;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.WorkerId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import org.junit.jupiter.api.Test;

/** What is done with the effects of a task queue. */
class EffectExecutorTest {
  private static final QueueName NAME = new QueueName("default", "q");

  @Test
  void polls_are_answered_and_claims_released_although_the_timer_has_been_shut_down() {
    ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);
    timer.shutdownNow();
    LinkedBlockingQueue<ClaimRequest> requests = new LinkedBlockingQueue<>();
    List<Claim> released = new ArrayList<>();
    DispatchMetrics metrics = Meters.unpublished().dispatch();
    EffectExecutor executor = new EffectExecutor(requests, timer, released::addAll, metrics);
    TaskQueue queue =
        new TaskQueue(
            NAME, DispatchConfig.defaults(), new ByteBudget(1), metrics.queue("default", "q"));
    WaitingPoll poll = new WaitingPoll(new PollRequest(NAME, WorkerId.next(), List.of(), 1, 1_000));
    Task task = task();
    QueueEffects effects = new QueueEffects();
    effects.requestClaim();
    effects.wakeUpIn(10);
    effects.answer(poll, List.of(task));
    effects.release(List.of(task));

    executor.execute(queue, effects);

    assertThat(poll.tasks()).isCompletedWithValue(List.of(task));
    assertThat(released).containsExactly(task.claim());
    assertThat(requests).hasSize(1);
  }

  private static Task task() {
    return new Task(
        new Claim(RunId.next(), 1),
        "order",
        "",
        1,
        null,
        0,
        List.of(),
        false,
        "",
        Instant.EPOCH,
        Instant.EPOCH,
        null,
        0,
        Map.of(),
        Task.Cancel.NONE,
        System.nanoTime());
  }
}
