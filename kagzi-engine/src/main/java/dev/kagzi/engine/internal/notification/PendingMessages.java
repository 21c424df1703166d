package dev.kagzi.engine.internal.notification;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Messages that wait for a thread, in order and without duplicates. If they are too many, {@link
 * ServerMessage.Everything} replaces them. Thread-safe.
 */
final class PendingMessages {
  private static final int WAITING_MAX = 5_000;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition filled = lock.newCondition();
  private Set<ServerMessage> waiting = new LinkedHashSet<>();

  void add(ServerMessage message) {
    lock.lock();
    try {
      if (waiting.size() >= WAITING_MAX) {
        waiting.clear();
        waiting.add(new ServerMessage.Everything());
      } else {
        waiting.add(message);
      }
      filled.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Waits until there is a message, then removes and returns all. */
  Set<ServerMessage> take() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (waiting.isEmpty()) {
        filled.await();
      }
      Set<ServerMessage> batch = waiting;
      waiting = new LinkedHashSet<>();
      return batch;
    } finally {
      lock.unlock();
    }
  }
}
