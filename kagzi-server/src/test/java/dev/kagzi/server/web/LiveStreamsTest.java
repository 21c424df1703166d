package dev.kagzi.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class LiveStreamsTest {
  private final AtomicReference<String> state = new AtomicReference<>("before");

  /** A browser that follows a page on a thread of its own. */
  private final class Browser implements LiveStreams.Receiver {
    private final BlockingQueue<String> received = new LinkedBlockingQueue<>();

    Browser(LiveStreams streams) {
      Callable<Boolean> following =
          () -> streams.follow("/live/page", state::get, this, () -> true);
      Thread.ofVirtual().start(new FutureTask<>(following));
    }

    @Override
    public void send(LiveStreams.Event event) {
      received.add(event.data());
    }

    @Override
    public void keepAlive() {}

    String next() throws InterruptedException {
      String fragment = received.poll(20, TimeUnit.SECONDS);
      assertThat(fragment).as("the next fragment").isNotNull();
      return fragment;
    }
  }

  /** The page that the browser has just loaded shows the new state already. */
  @Test
  void a_browser_that_joins_others_receives_no_fragment_from_before() throws Exception {
    try (LiveStreams streams = new LiveStreams()) {
      Browser first = new Browser(streams);
      assertThat(first.next()).isEqualTo("before");
      state.set("after");

      Browser second = new Browser(streams);

      assertThat(second.next()).isEqualTo("after");
      assertThat(first.next()).isEqualTo("after");
    }
  }
}
