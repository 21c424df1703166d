package dev.kagzi.engine.chore;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Has default versions read anew when one was changed and the notice of it may have been lost. */
public final class RenewVersions implements Chore {
  private final TakePulse pulse;
  private final Runnable renew;
  private @Nullable Long seenUs;

  public RenewVersions(TakePulse pulse, Runnable renew) {
    this.pulse = pulse;
    this.renew = renew;
  }

  @Override
  public void run() {
    Long changedUs = pulse.last().typesUs();
    if (!Objects.equals(changedUs, seenUs)) {
      seenUs = changedUs;
      renew.run();
    }
  }
}
