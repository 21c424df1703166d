package dev.kagzi.engine.dispatch;

import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import java.util.List;

/**
 * A worker's request for tasks.
 *
 * @param types the workflow types that it executes; {@link #ANY_VERSION} accepts every version
 * @param tasksMax its free slots
 * @param waitMs how long it waits for the first task
 * @param isSimple a poll of a simple client, which gets only its own types. Of other polls of a
 *     worker, the types and their limits in the latest one apply to all.
 */
public record PollRequest(
    QueueName queue,
    WorkerId workerId,
    List<Wanted> types,
    int tasksMax,
    long waitMs,
    boolean isSimple) {

  /** The version that clients without versions poll for: accepts every version. */
  public static final String ANY_VERSION = "*";

  public PollRequest {
    types = List.copyOf(types);
  }

  /** A poll of a client that is not simple. */
  public PollRequest(
      QueueName queue, WorkerId workerId, List<Wanted> types, int tasksMax, long waitMs) {
    this(queue, workerId, types, tasksMax, waitMs, false);
  }

  PollRequest withWaitMs(long millis) {
    return new PollRequest(queue, workerId, types, tasksMax, millis, isSimple);
  }

  /**
   * One type of a poll.
   *
   * @param tasksMax how many tasks of this type at most; 0: only the poll's own limit applies
   * @param cleanUpMs how long the worker's code may clean up after a cancel; 0: it does not
   */
  public record Wanted(String type, String version, int tasksMax, long cleanUpMs) {
    /** A type whose code does not clean up after a cancel. */
    public Wanted(String type, String version, int tasksMax) {
      this(type, version, tasksMax, 0);
    }

    public Wanted withTasksMax(int max) {
      return new Wanted(type, version, max, cleanUpMs);
    }

    public Wanted withVersion(String exact) {
      return new Wanted(type, exact, tasksMax, cleanUpMs);
    }

    public TypeVersion typeVersion() {
      return new TypeVersion(type, version);
    }
  }
}
