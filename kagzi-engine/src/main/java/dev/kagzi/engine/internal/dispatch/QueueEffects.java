package dev.kagzi.engine.internal.dispatch;

import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.value.Claim;
import java.util.ArrayList;
import java.util.List;

/**
 * What a call of {@link TaskQueue} leaves to be done once its lock is released. {@link
 * EffectExecutor} does it. Not thread-safe: one thread fills it under the queue's lock and executes
 * it afterwards.
 */
final class QueueEffects {
  static final long NO_WAKE_UP = -1;

  private final List<Answer> answers = new ArrayList<>();
  private final List<Claim> releases = new ArrayList<>();
  private boolean claimWanted;
  private long wakeUpMs = NO_WAKE_UP;

  record Answer(WaitingPoll poll, List<Task> tasks) {}

  void answer(WaitingPoll poll, List<Task> tasks) {
    answers.add(new Answer(poll, tasks));
  }

  /** Releases the claims of tasks that their workers have not received. */
  void release(List<Task> tasks) {
    tasks.forEach(task -> releases.add(task.claim()));
  }

  void requestClaim() {
    claimWanted = true;
  }

  void wakeUpIn(long delayMs) {
    wakeUpMs = wakeUpMs == NO_WAKE_UP ? delayMs : Math.min(wakeUpMs, delayMs);
  }

  void addAll(QueueEffects other) {
    answers.addAll(other.answers);
    releases.addAll(other.releases);
    claimWanted |= other.claimWanted;
    if (other.wakeUpMs != NO_WAKE_UP) {
      wakeUpIn(other.wakeUpMs);
    }
  }

  List<Answer> answers() {
    return answers;
  }

  List<Claim> releases() {
    return releases;
  }

  boolean isClaimWanted() {
    return claimWanted;
  }

  /** Milliseconds until the queue must check for due runs, or {@link #NO_WAKE_UP}. */
  long wakeUpMs() {
    return wakeUpMs;
  }
}
