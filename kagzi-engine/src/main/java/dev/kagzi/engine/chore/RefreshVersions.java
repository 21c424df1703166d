package dev.kagzi.engine.chore;

import dev.kagzi.engine.run.DefaultVersions;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads the default versions again when one was changed, in case the {@code ServerMessage} was
 * lost.
 */
public final class RefreshVersions implements Chore {
  private final ServerHeartbeat heartbeat;
  private final DefaultVersions versions;
  private @Nullable Long seenUs;

  public RefreshVersions(ServerHeartbeat heartbeat, DefaultVersions versions) {
    this.heartbeat = heartbeat;
    this.versions = versions;
  }

  @Override
  public void run() {
    Long changedUs = heartbeat.lastReading().typesUs();
    if (!Objects.equals(changedUs, seenUs) || versions.isStale()) {
      versions.read();
      seenUs = changedUs;
    }
  }
}
