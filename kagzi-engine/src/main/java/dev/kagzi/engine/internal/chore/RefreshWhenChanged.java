package dev.kagzi.engine.internal.chore;

import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Refreshes a cache when its table was changed, in case the {@code ServerMessage} about the change
 * was lost, and when the cache itself reports that it is stale.
 */
public final class RefreshWhenChanged implements Chore {
  private final LongSupplier changedUs;
  private final BooleanSupplier isStale;
  private final Runnable refresh;
  private long seenUs;

  public RefreshWhenChanged(LongSupplier changedUs, BooleanSupplier isStale, Runnable refresh) {
    this.changedUs = changedUs;
    this.isStale = isStale;
    this.refresh = refresh;
  }

  @Override
  public void run() {
    long changed = changedUs.getAsLong();
    if (changed != seenUs || isStale.getAsBoolean()) {
      refresh.run();
      seenUs = changed;
    }
  }
}
