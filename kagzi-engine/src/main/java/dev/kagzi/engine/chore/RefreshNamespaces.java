package dev.kagzi.engine.chore;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Refreshes the namespace cache when a namespace was changed, in case the {@code ServerMessage} was
 * lost.
 */
public final class RefreshNamespaces implements Chore {
  private final ServerHeartbeat heartbeat;
  private final Runnable refresh;
  private @Nullable Long seenUs;

  public RefreshNamespaces(ServerHeartbeat heartbeat, Runnable refresh) {
    this.heartbeat = heartbeat;
    this.refresh = refresh;
  }

  @Override
  public void run() {
    Long changedUs = heartbeat.lastReading().namespacesUs();
    if (!Objects.equals(changedUs, seenUs)) {
      seenUs = changedUs;
      refresh.run();
    }
  }
}
