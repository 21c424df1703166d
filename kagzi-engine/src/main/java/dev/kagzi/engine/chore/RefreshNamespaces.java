package dev.kagzi.engine.chore;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Has namespaces read anew when one was changed and the notice of it may have been lost. */
public final class RefreshNamespaces implements Chore {
  private final ServerHeartbeat pulse;
  private final Runnable renew;
  private @Nullable Long seenUs;

  public RefreshNamespaces(ServerHeartbeat pulse, Runnable renew) {
    this.pulse = pulse;
    this.renew = renew;
  }

  @Override
  public void run() {
    Long changedUs = pulse.last().namespacesUs();
    if (!Objects.equals(changedUs, seenUs)) {
      seenUs = changedUs;
      renew.run();
    }
  }
}
