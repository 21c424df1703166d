package dev.kagzi.engine.dispatch;

import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.WorkerId;
import java.util.List;

/**
 * A worker's wish for work.
 *
 * @param types what it serves; an entry without version takes any
 * @param tasksMax its free slots
 * @param waitMs how long it waits for the first task
 */
public record PollRequest(
    QueueName queue, WorkerId workerId, List<Wanted> types, int tasksMax, long waitMs) {

  /** Served in any version: what clients ask for that know no versions. */
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
   * @param tasksMax how many of this type at most; 0: only the poll's own limit counts
   */
  public record Wanted(String type, String version, int tasksMax) {}
}
