package dev.kagzi.engine.chore;

import dev.kagzi.engine.run.DefaultVersions;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Has default versions read anew when one was changed and the notice of it may have been lost. */
public final class RefreshVersions implements Chore {
  private final ServerHeartbeat pulse;
  private final DefaultVersions versions;
  private @Nullable Long seenUs;

  public RefreshVersions(ServerHeartbeat pulse, DefaultVersions versions) {
    this.pulse = pulse;
    this.versions = versions;
  }

  @Override
  public void run() {
    Long changedUs = pulse.last().typesUs();
    if (!Objects.equals(changedUs, seenUs) || versions.isStale()) {
      versions.read();
      seenUs = changedUs;
    }
  }
}
