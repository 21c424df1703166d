package dev.kagzi.sdk;

import java.time.Duration;
import java.util.List;

/**
 * Executes runs until it is closed. It keeps itself connected: it registers and attaches again for
 * as long as it takes. Thread-safe.
 *
 * <p>Its threads do not keep the JVM alive; a program that is nothing but a worker ends its {@code
 * main} with {@link #awaitTermination()}.
 */
public interface Worker extends AutoCloseable {
  /**
   * The id of its registration, new after each one; empty before the first. Of a worker with
   * several queues, the first queue's.
   */
  String workerId();

  /** The ids of its registrations, one per queue that is registered now. */
  List<String> workerIds();

  /**
   * Whether every queue has been registered, and no server has said since that it does not know the
   * worker. It stays true while the server is away; {@link #isConnected} does not.
   */
  boolean isRegistered();

  /**
   * Whether the worker can receive runs now: every queue is registered, the stream over which the
   * server reaches it is open, and the server has answered the latest heartbeat. Asks nobody: a
   * connection that breaks is noticed at once, a server that no longer answers with the next
   * heartbeat, within two of their intervals (3 s each unless the server says otherwise). For
   * health checks; false before the first registration, and from the beginning of a drain on:
   * {@link #shutdown}, {@link #close}, or a drain that the server asked for.
   */
  boolean isConnected();

  /** Waits for the registration of every queue; false if the time ended first. */
  boolean awaitRegistered(Duration timeout) throws InterruptedException;

  /** How many runs it holds now, over all queues. */
  int activeCount();

  /**
   * How many of those were interrupted, because their step or their run ran out of time or their
   * run was taken away, and are still there a second later. Their code can write no more; nothing
   * but its own end frees the slot. A number that stays above zero wants somebody to look at the
   * worker's warnings.
   */
  int stuckCount();

  /** Begins to drain without waiting for the end: no new runs; the running ones are finished. */
  void shutdown();

  /** Waits until the worker has ended, however that came about. */
  void awaitTermination() throws InterruptedException;

  /** Waits until the worker has ended; false if the time ended first. */
  boolean awaitTermination(Duration timeout) throws InterruptedException;

  /**
   * Drains and waits for the end: takes no new runs, finishes the running ones, and after the drain
   * timeout interrupts and gives back those that are left, so that another worker goes on with
   * them.
   */
  @Override
  void close();
}
