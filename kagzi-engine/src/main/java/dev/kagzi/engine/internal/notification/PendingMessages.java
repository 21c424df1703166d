package dev.kagzi.engine.internal.notification;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Messages that wait for a thread, in order; messages with equal keys wait as one. If they are too
 * many, {@link ServerMessage.Everything} replaces them. Thread-safe.
 */
final class PendingMessages {
  private static final int WAITING_MAX = 5_000;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition filled = lock.newCondition();
  private Map<ServerMessage, ServerMessage> waiting = new LinkedHashMap<>();

  void add(ServerMessage message) {
    lock.lock();
    try {
      if (waiting.size() >= WAITING_MAX) {
        waiting.clear();
        waiting.put(new ServerMessage.Everything(), new ServerMessage.Everything());
      } else {
        waiting.merge(message.key(), message, ServerMessage::plus);
      }
      filled.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Waits until there is a message, then removes and returns all. */
  List<ServerMessage> take() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (waiting.isEmpty()) {
        filled.await();
      }
      List<ServerMessage> batch = new ArrayList<>(waiting.values());
      waiting = new LinkedHashMap<>();
      return batch;
    } finally {
      lock.unlock();
    }
  }
}
