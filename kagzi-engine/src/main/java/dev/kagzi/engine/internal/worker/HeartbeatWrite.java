package dev.kagzi.engine.internal.worker;

import dev.kagzi.engine.internal.journal.Write;
import dev.kagzi.engine.worker.HeartbeatResult;
import dev.kagzi.engine.worker.WorkerHeartbeat;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

final class HeartbeatWrite extends Write<HeartbeatResult> {
  static final String CALL = "Heartbeat";
  private static final int BYTES_PER_CLAIM = 32;

  private final WorkerHeartbeat heartbeat;
  private @Nullable Long recordedUs;

  HeartbeatWrite(WorkerHeartbeat heartbeat) {
    this.heartbeat = heartbeat;
  }

  WorkerHeartbeat heartbeat() {
    return heartbeat;
  }

  /** The database time at which an earlier send of this heartbeat was stored; null if none was. */
  @Nullable Long recordedUs() {
    return recordedUs;
  }

  void recorded(long us) {
    this.recordedUs = us;
  }

  @Override
  protected UUID key() {
    return heartbeat.workerId().value();
  }

  @Override
  protected String call() {
    return CALL;
  }

  @Override
  protected String subject() {
    return "worker";
  }

  /** A worker whose heartbeats are refused is marked offline, and its runs execute again. */
  @Override
  protected Level refusedLevel() {
    return Level.ERROR;
  }

  @Override
  protected int bytes() {
    return 100 + (heartbeat.claims() == null ? 0 : heartbeat.claims().size() * BYTES_PER_CLAIM);
  }
}
