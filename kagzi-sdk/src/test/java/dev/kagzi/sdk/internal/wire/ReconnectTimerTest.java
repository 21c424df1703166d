package dev.kagzi.sdk.internal.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

@NullMarked
class ReconnectTimerTest {
  private final MadeChannel channel = new MadeChannel();
  private final Deque<Runnable> timers = new ArrayDeque<>();
  private final List<Long> delays = new ArrayList<>();
  private final ReconnectTimer reconnect =
      new ReconnectTimer(
          channel,
          (delayMs, task) -> {
            delays.add(delayMs);
            timers.add(task);
          },
          "127.0.0.1:1");

  private void timePasses() {
    Objects.requireNonNull(timers.poll()).run();
  }

  @Test
  void a_channel_without_a_server_reconnects_about_every_second_without_limit() {
    reconnect.watch();
    channel.becomes(ConnectivityState.TRANSIENT_FAILURE);

    for (int i = 0; i < 100; i++) {
      timePasses();
    }

    assertThat(channel.resets).isEqualTo(100);
    assertThat(delays).allSatisfy(ms -> assertThat(ms).isBetween(500L, 1_500L));
  }

  @Test
  void a_reconnected_channel_is_not_reset_until_the_next_loss() {
    reconnect.watch();
    channel.becomes(ConnectivityState.TRANSIENT_FAILURE);
    channel.becomes(ConnectivityState.READY);
    timePasses();

    assertThat(channel.resets).isZero();
    assertThat(timers).isEmpty();

    channel.becomes(ConnectivityState.IDLE);
    channel.becomes(ConnectivityState.TRANSIENT_FAILURE);
    timePasses();

    assertThat(channel.resets).isEqualTo(1);
  }

  @Test
  void a_closed_channel_is_not_watched_any_more() {
    reconnect.watch();
    channel.becomes(ConnectivityState.TRANSIENT_FAILURE);
    channel.becomes(ConnectivityState.SHUTDOWN);
    timePasses();

    assertThat(timers).isEmpty();
    assertThat(channel.watcher).isNull();
  }

  /** A channel whose state the test sets. */
  private static final class MadeChannel extends ManagedChannel {
    private ConnectivityState state = ConnectivityState.IDLE;
    private @Nullable Runnable watcher;
    private int resets;

    void becomes(ConnectivityState next) {
      state = next;
      Runnable listener = watcher;
      watcher = null;
      if (listener != null) {
        listener.run();
      }
    }

    @Override
    public ConnectivityState getState(boolean requestConnection) {
      return state;
    }

    @Override
    public void notifyWhenStateChanged(ConnectivityState source, Runnable callback) {
      watcher = callback;
    }

    @Override
    public void resetConnectBackoff() {
      resets++;
    }

    @Override
    public ManagedChannel shutdown() {
      return this;
    }

    @Override
    public boolean isShutdown() {
      return false;
    }

    @Override
    public boolean isTerminated() {
      return false;
    }

    @Override
    public ManagedChannel shutdownNow() {
      return this;
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) {
      return true;
    }

    @Override
    public <Q, A> ClientCall<Q, A> newCall(MethodDescriptor<Q, A> method, CallOptions options) {
      throw new UnsupportedOperationException("newCall");
    }

    @Override
    public String authority() {
      return "made";
    }
  }
}
