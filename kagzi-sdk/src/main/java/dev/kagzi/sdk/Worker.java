package dev.kagzi.sdk;

import java.time.Duration;
import java.util.List;

/**
 * A running worker: executes runs until it is closed. If it loses the server, it reconnects, and
 * registers again if the server no longer knows it. Neither has a time limit. Thread-safe.
 *
 * <p>Its threads do not keep the JVM alive. A program that is only a worker ends its {@code main}
 * with {@link #awaitTermination()}.
 */
public interface Worker extends AutoCloseable {
  /**
   * Returns the id of its current registration; empty before the first. With several queues it is
   * the id for the first queue. Each registration has a new id.
   */
  String workerId();

  /** Returns the ids of its registrations, one for each queue that is currently registered. */
  List<String> workerIds();

  /**
   * Returns whether every queue is registered, as far as the worker knows. It stays true while no
   * server answers, unlike {@link #isConnected}.
   */
  boolean isRegistered();

  /**
   * Returns whether the worker can receive runs now: every queue is registered, its stream from the
   * server is open, and the latest heartbeat was answered. Suits health checks.
   *
   * <p>It sends no request. The worker notices a broken connection immediately. It takes two
   * heartbeat intervals (3 s each by default) to notice that the server does not answer. It is
   * false before the first registration and from the beginning of a drain: {@link #shutdown},
   * {@link #close}, or a drain that the server requested.
   */
  boolean isConnected();

  /**
   * Waits until every queue is registered.
   *
   * @return false if the timeout ended first
   */
  boolean awaitRegistered(Duration timeout) throws InterruptedException;

  /** Returns how many runs occupy a slot now, in all queues, also those whose claim it has lost. */
  int activeCount();

  /**
   * Returns how many of the runs counted by {@link #activeCount} were interrupted more than a
   * second ago and still execute. They were interrupted because of a timeout, because the worker
   * lost or released the run, or because their branch was stopped. The interrupted code can record
   * nothing any more, and the slots are freed only when it ends. If the number stays above zero,
   * check the worker's warnings.
   */
  int stuckCount();

  /**
   * Begins to drain and returns at once. The worker takes no new runs and finishes the running
   * ones. After the {@linkplain WorkerBuilder#drainTimeout drain timeout} it interrupts and
   * releases the runs that have not finished.
   */
  void shutdown();

  /** Waits until the worker has ended for any reason. */
  void awaitTermination() throws InterruptedException;

  /**
   * Waits until the worker has ended.
   *
   * @return false if the timeout ended first
   */
  boolean awaitTermination(Duration timeout) throws InterruptedException;

  /**
   * Drains the worker and waits for its end. It takes no new runs and finishes the running ones.
   * After the drain timeout it interrupts the remaining runs and releases them, so that other
   * workers continue them.
   */
  @Override
  void close();
}
