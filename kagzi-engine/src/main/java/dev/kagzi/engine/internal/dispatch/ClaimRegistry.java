package dev.kagzi.engine.internal.dispatch;

import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.WorkerId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The claims that this server has dispatched and whose end it has not seen. Used to find claims
 * that a worker dropped or never received. The registry may be incomplete or outdated. That is
 * safe, because every write checks the claim's epoch. Thread-safe.
 */
public final class ClaimRegistry {
  private static final long REMOVE_AFTER_NANOS = TimeUnit.MINUTES.toNanos(10);

  private final Map<RunId, Held> held = new ConcurrentHashMap<>();

  public record Held(int epoch, WorkerId worker, QueueName queue, long sinceNanos) {}

  /** Adds a claim. Returns false for one that was dispatched before: do not dispatch it again. */
  boolean add(WorkerId worker, Claim claim, QueueName queue) {
    Held added = new Held(claim.epoch(), worker, queue, System.nanoTime());
    Held before = held.putIfAbsent(claim.runId(), added);
    if (before == null) {
      return true;
    }
    // Repeated if another thread has changed the entry in between.
    return before.epoch != claim.epoch()
        && (held.replace(claim.runId(), before, added) || add(worker, claim, queue));
  }

  /** Removes a claim that has ended. Returns who held it, or null if this server does not know. */
  public @Nullable Held remove(Claim claim) {
    Held before = held.get(claim.runId());
    if (before == null || (before.epoch != claim.epoch() && claim.epoch() != Claim.ANY)) {
      return null;
    }
    held.remove(claim.runId(), before);
    return before;
  }

  /** Returns claims that the worker got before the given time and that it does not list. */
  public List<Claim> unlisted(WorkerId worker, List<Claim> listed, long beforeNanos) {
    Set<Claim> known = new HashSet<>(listed);
    List<Claim> dropped = new ArrayList<>();
    held.forEach(
        (run, claim) -> {
          if (claim.worker.equals(worker)
              && claim.sinceNanos - beforeNanos < 0
              && !known.contains(new Claim(run, claim.epoch))) {
            dropped.add(new Claim(run, claim.epoch));
          }
        });
    return dropped;
  }

  /**
   * Removes claims older than 10 minutes, so that claims whose workers moved to another server do
   * not accumulate. A claim that is still held is then unknown here, which is harmless: the
   * registry may be incomplete.
   */
  public void removeOld() {
    long now = System.nanoTime();
    held.values().removeIf(claim -> now - claim.sinceNanos > REMOVE_AFTER_NANOS);
  }

  /** Removes claims of earlier generations, which are not valid any more. */
  public void removeUpTo(int epochMax) {
    held.values().removeIf(claim -> claim.epoch <= epochMax);
  }

  public int size() {
    return held.size();
  }
}
