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
 */
public record PollRequest(
    QueueName queue, WorkerId workerId, List<Wanted> types, int tasksMax, long waitMs) {

  /** The version that clients without versions poll for: accepts every version. */
  public static final String ANY_VERSION = "*";

  public PollRequest {
    types = List.copyOf(types);
  }

  PollRequest withWaitMs(long millis) {
    return new PollRequest(queue, workerId, types, tasksMax, millis);
  }

  /**
   * One type of a poll.
   *
   * @param tasksMax how many tasks of this type at most; 0: only the poll's own limit applies
   */
  public record Wanted(String type, String version, int tasksMax) {
    public TypeVersion typeVersion() {
      return new TypeVersion(type, version);
    }
  }
}
