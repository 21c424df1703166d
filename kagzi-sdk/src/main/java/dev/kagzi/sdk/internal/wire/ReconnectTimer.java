package dev.kagzi.sdk.internal.wire;

import dev.kagzi.sdk.internal.log.EventLog;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Has a channel without a server try again about every second. gRPC's own pauses grow to two
 * minutes; a server that comes back takes workers for dead that are silent for some seconds.
 */
final class ReconnectTimer {
  private static final EventLog log = EventLog.of(ReconnectTimer.class);
  private static final long TRY_MS = 1_000;

  /** Runs a task after a delay in milliseconds. */
  interface Timer {
    void after(long delayMs, Runnable task);
  }

  private final ManagedChannel channel;
  private final Timer timer;
  private final String addresses;
  private boolean away;

  ReconnectTimer(ManagedChannel channel, Timer timer, String addresses) {
    this.channel = channel;
    this.timer = timer;
    this.addresses = addresses;
  }

  /** Until the channel is closed. */
  void watch() {
    ConnectivityState state = channel.getState(false);
    switch (state) {
      case SHUTDOWN -> {}
      case TRANSIENT_FAILURE -> {
        say(true);
        // Not all at once, when many have lost the same server.
        timer.after(ThreadLocalRandom.current().nextLong(TRY_MS / 2, TRY_MS * 3 / 2), this::retry);
      }
      default -> {
        if (state == ConnectivityState.READY) {
          say(false);
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

  private synchronized void say(boolean isAway) {
    if (away == isAway) {
      return;
    }
    away = isAway;
    if (isAway) {
      log.warn("no server answers, trying again").with("address", addresses).write();
    } else {
      log.info("connected again").with("address", addresses).write();
    }
  }
}
