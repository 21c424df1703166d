package dev.kagzi.engine.dispatch;

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
 * Which claims this server has handed out and not seen end. Only a memory: it finds claims that a
 * worker has dropped or never got, and whatever it is wrong about the epoch corrects. Thread-safe.
 */
public final class ClaimRegistry {
  private static final long FORGET_NANOS = TimeUnit.MINUTES.toNanos(10);

  private final Map<RunId, Held> held = new ConcurrentHashMap<>();

  /** A claim in a worker's hands. */
  public record Held(int epoch, WorkerId worker, QueueName queue, long sinceNanos) {}

  /** Answers whether the claim is new: one that was handed out before is not handed out again. */
  boolean handed(WorkerId worker, Claim claim, QueueName queue) {
    Held before =
        held.put(claim.runId(), new Held(claim.epoch(), worker, queue, System.nanoTime()));
    return before == null || before.epoch != claim.epoch();
  }

  /** The claim has ended; answers who had it, if this server knows. */
  public @Nullable Held ended(Claim claim) {
    Held before = held.get(claim.runId());
    if (before == null || (before.epoch != claim.epoch() && claim.epoch() != Claim.ANY)) {
      return null;
    }
    held.remove(claim.runId(), before);
    return before;
  }

  /** Claims of the worker that it does not list although it has had them since before then. */
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

  /** Forgets claims of workers that report to another server. */
  public void forgetOld() {
    long now = System.nanoTime();
    held.values().removeIf(claim -> now - claim.sinceNanos > FORGET_NANOS);
  }

  public int size() {
    return held.size();
  }
}
