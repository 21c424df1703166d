package dev.kagzi.server.web;

import dev.kagzi.engine.value.Refusal;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends fragments of pages to the browsers that show them, whenever they change. All browsers with
 * the same URL share one topic, so a fragment is rendered once for all of them, and not at all
 * while no browser shows it. A slow browser does not delay the others: each has its own virtual
 * thread.
 *
 * <p>Thread-safe.
 */
final class LiveStreams implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(LiveStreams.class);
  private static final Duration INTERVAL = Duration.ofSeconds(2);
  private static final Duration KEEP_ALIVE = Duration.ofSeconds(5);
  private static final int STREAMS_MAX = 500;

  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Topic> topics = new HashMap<>();
  private int streams;
  private boolean closed;

  /** What a browser receives: an event with HTML or, if it could not be rendered, with a reason. */
  record Event(String name, String data) {}

  /** A browser's connection. */
  interface Receiver {
    void send(Event event) throws IOException;

    /** Sends bytes that the page does not show, so that a closed connection is noticed. */
    void keepAlive() throws IOException;
  }

  private final class Topic {
    private final String url;
    private final Supplier<String> fragment;
    private final Condition changed = lock.newCondition();
    private int viewers;
    private @Nullable Event last;
    private long renders;

    Topic(String url, Supplier<String> fragment) {
      this.url = url;
      this.fragment = fragment;
    }

    private boolean isFollowed() {
      return viewers > 0 && !closed;
    }
  }

  /**
   * Sends each new version of the fragment until the receiver is gone, the session has ended, or
   * this object is closed. The first version that is sent was rendered after this call began: an
   * earlier one may be older than the page that the browser has just loaded.
   *
   * @return false if there are too many streams
   */
  boolean follow(String url, Supplier<String> fragment, Receiver receiver, BooleanSupplier isOpen)
      throws IOException, InterruptedException {
    Topic topic = join(url, fragment);
    if (topic == null) {
      return false;
    }
    try {
      Event sent = null;
      long rendersBefore = renders(topic);
      while (isOpen.getAsBoolean() && isOpen(topic)) {
        Event next = awaitOther(topic, sent, rendersBefore);
        if (next == null) {
          receiver.keepAlive();
        } else {
          receiver.send(next);
          sent = next;
        }
      }
      return true;
    } finally {
      leave(topic);
    }
  }

  private @Nullable Topic join(String url, Supplier<String> fragment) {
    lock.lock();
    try {
      if (closed || streams >= STREAMS_MAX) {
        return null;
      }
      streams++;
      Topic topic = topics.computeIfAbsent(url, key -> new Topic(key, fragment));
      if (topic.viewers++ == 0) {
        Thread.ofVirtual().name("kagzi-live").start(() -> refresh(topic));
      }
      return topic;
    } finally {
      lock.unlock();
    }
  }

  private void leave(Topic topic) {
    lock.lock();
    try {
      streams--;
      if (--topic.viewers == 0) {
        topics.remove(topic.url);
        topic.changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  private boolean isOpen(Topic topic) {
    lock.lock();
    try {
      return topic.isFollowed();
    } finally {
      lock.unlock();
    }
  }

  private long renders(Topic topic) {
    lock.lock();
    try {
      return topic.renders;
    } finally {
      lock.unlock();
    }
  }

  private @Nullable Event awaitOther(Topic topic, @Nullable Event sent, long rendersBefore)
      throws InterruptedException {
    lock.lock();
    try {
      long left = KEEP_ALIVE.toNanos();
      while (topic.isFollowed() && left > 0) {
        if (topic.last != null && topic.renders > rendersBefore && !topic.last.equals(sent)) {
          return topic.last;
        }
        left = topic.changed.awaitNanos(left);
      }
      return null;
    } finally {
      lock.unlock();
    }
  }

  private void refresh(Topic topic) {
    try {
      while (publish(topic, render(topic))) {
        // Until nobody follows.
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static Event render(Topic topic) {
    try {
      return new Event("message", topic.fragment.get());
    } catch (Refusal refusal) {
      return new Event("trouble", String.valueOf(refusal.getMessage()));
    } catch (RuntimeException e) {
      log.atError().setCause(e).addKeyValue("page", topic.url).log("live page failed");
      return new Event("trouble", "the server could not render the page; its log says why");
    }
  }

  private boolean publish(Topic topic, Event event) throws InterruptedException {
    lock.lock();
    try {
      topic.last = event;
      topic.renders++;
      topic.changed.signalAll();
      long left = INTERVAL.toNanos();
      while (topic.isFollowed() && left > 0) {
        left = topic.changed.awaitNanos(left);
      }
      return topic.isFollowed();
    } finally {
      lock.unlock();
    }
  }

  /** Ends all streams. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      topics.values().forEach(topic -> topic.changed.signalAll());
    } finally {
      lock.unlock();
    }
  }
}
