package dev.kagzi.engine.internal.dispatch;

import dev.kagzi.engine.metrics.DispatchMetrics;
import dev.kagzi.engine.value.Claim;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Executes what task queues return: answers polls, releases claims, requests claim rounds, and
 * keeps one wake-up timer per queue. Thread-safe; never called under a queue's lock.
 */
final class EffectExecutor {
  private static final Logger log = LoggerFactory.getLogger(EffectExecutor.class);
  private static final long WAKE_UP_MS_MAX = 3_600_000;

  private final BlockingQueue<ClaimRequest> claimRequests;
  private final ScheduledExecutorService timer;
  private final Consumer<List<Claim>> release;
  private final DispatchMetrics metrics;
  private final Map<TaskQueue, WakeUp> wakeUps = new ConcurrentHashMap<>();

  private record WakeUp(long atNanos, Future<?> timer) {}

  EffectExecutor(
      BlockingQueue<ClaimRequest> claimRequests,
      ScheduledExecutorService timer,
      Consumer<List<Claim>> release,
      DispatchMetrics metrics) {
    this.claimRequests = claimRequests;
    this.timer = timer;
    this.release = release;
    this.metrics = metrics;
  }

  void execute(TaskQueue queue, QueueEffects effects) {
    // Must be first. If another effect threw before it, the round would not be requested, and the
    // queue would wait for it forever.
    if (effects.isClaimWanted()) {
      claimRequests.add(ClaimRequest.ofRound(queue));
    }
    for (QueueEffects.Answer answer : effects.answers()) {
      if (!answer.tasks().isEmpty()) {
        metrics.polls.increment();
        answer.tasks().forEach(task -> queue.metrics().handedOut(task.dueNanos()));
      }
      answer.poll().tasks().complete(answer.tasks());
    }
    if (!effects.releases().isEmpty()) {
      release.accept(effects.releases());
    }
    if (effects.wakeUpMs() != QueueEffects.NO_WAKE_UP) {
      wakeUpIn(queue, effects.wakeUpMs());
    }
  }

  /** Keeps only the earliest wake-up: the claim round after it reads when the next run is due. */
  private void wakeUpIn(TaskQueue queue, long delayMs) {
    long atNanos =
        System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Math.min(delayMs, WAKE_UP_MS_MAX));
    try {
      wakeUps.compute(
          queue,
          (same, planned) ->
              planned != null && planned.atNanos - atNanos <= 0
                  ? planned
                  : replace(planned, queue, atNanos));
    } catch (RejectedExecutionException closed) {
      log.atDebug().log("no wake-up: this server is stopping");
    }
  }

  private WakeUp replace(@Nullable WakeUp planned, TaskQueue queue, long atNanos) {
    if (planned != null) {
      planned.timer.cancel(false);
    }
    long delayNanos = atNanos - System.nanoTime();
    return new WakeUp(
        atNanos, timer.schedule(() -> wakeUp(queue, atNanos), delayNanos, TimeUnit.NANOSECONDS));
  }

  private void wakeUp(TaskQueue queue, long atNanos) {
    wakeUps.computeIfPresent(queue, (same, planned) -> planned.atNanos == atNanos ? null : planned);
    execute(queue, queue.checkEverything());
  }

  void cancelWakeUp(TaskQueue queue) {
    WakeUp planned = wakeUps.remove(queue);
    if (planned != null) {
      planned.timer.cancel(false);
    }
  }
}
