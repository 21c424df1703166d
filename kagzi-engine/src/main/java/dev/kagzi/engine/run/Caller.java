package dev.kagzi.engine.run;

import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.WorkerId;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Identifies the caller of a simple client's call. Most of these calls name neither an epoch nor a
 * worker; then the connection identifies the caller.
 *
 * @param epoch the epoch in the call; null for none
 * @param worker the worker in a call without an epoch; null for none
 * @param connection the workers that have used the connection of the call
 */
public record Caller(@Nullable Integer epoch, @Nullable WorkerId worker, Set<WorkerId> connection) {
  /** A call without epoch and worker, over a connection that no worker has used. */
  public static final Caller UNKNOWN = new Caller(null, null, Set.of());

  public static Caller ofEpoch(int epoch) {
    return new Caller(epoch, null, Set.of());
  }

  public Claim claim(RunId run) {
    if (epoch == null) {
      return new Claim(run, Claim.ANY);
    }
    if (epoch < 1) {
      throw Refusal.invalid("epoch", epoch, "at least 1");
    }
    return new Claim(run, epoch);
  }
}
