package dev.kagzi.sdk.internal.wire;

import dev.kagzi.sdk.internal.log.EventLog;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Makes a disconnected channel reconnect about every second. gRPC's own back-off grows to two
 * minutes, but the server marks workers offline after some seconds without heartbeats.
 */
final class ReconnectTimer {
  private static final EventLog log = EventLog.of(ReconnectTimer.class);
  private static final long TRY_MS = 1_000;

  interface Timer {
    void after(long delayMs, Runnable task);
  }

  private final ManagedChannel channel;
  private final Timer timer;
  private final String addresses;
  private boolean disconnected;

  ReconnectTimer(ManagedChannel channel, Timer timer, String addresses) {
    this.channel = channel;
    this.timer = timer;
    this.addresses = addresses;
  }

  void watch() {
    ConnectivityState state = channel.getState(false);
    switch (state) {
      case SHUTDOWN -> {}
      case TRANSIENT_FAILURE -> {
        logIfChanged(true);
        // Random delay, so that clients that lost the same server do not reconnect at once.
        timer.after(ThreadLocalRandom.current().nextLong(TRY_MS / 2, TRY_MS * 3 / 2), this::retry);
      }
      default -> {
        if (state == ConnectivityState.READY) {
          logIfChanged(false);
        }
        channel.notifyWhenStateChanged(state, this::watch);
      }
    }
  }

  private void retry() {
    if (channel.getState(false) == ConnectivityState.TRANSIENT_FAILURE) {
      channel.resetConnectBackoff();
    }
    watch();
  }

  private synchronized void logIfChanged(boolean nowDisconnected) {
    if (disconnected == nowDisconnected) {
      return;
    }
    disconnected = nowDisconnected;
    if (nowDisconnected) {
      log.warn("no server answers, trying again").with("address", addresses).write();
    } else {
      log.info("connected again").with("address", addresses).write();
    }
  }
}
