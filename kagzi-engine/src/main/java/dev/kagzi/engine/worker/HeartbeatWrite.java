package dev.kagzi.engine.worker;

import dev.kagzi.engine.journal.Write;
import java.util.UUID;

/** A heartbeat on its way to the database. */
final class HeartbeatWrite extends Write<HeartbeatResult> {
  private static final int BYTES_PER_CLAIM = 32;

  private final Heartbeat heartbeat;

  HeartbeatWrite(Heartbeat heartbeat) {
    this.heartbeat = heartbeat;
  }

  Heartbeat heartbeat() {
    return heartbeat;
  }

  @Override
  protected UUID key() {
    return heartbeat.workerId().value();
  }

  @Override
  protected int bytes() {
    return 100 + (heartbeat.claims() == null ? 0 : heartbeat.claims().size() * BYTES_PER_CLAIM);
  }
}
