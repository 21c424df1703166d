package dev.kagzi.engine.query;

import java.util.List;

/**
 * What a live display of a namespace shows.
 *
 * @param queues those with the most pending runs
 * @param workers the online workers that execute the most runs
 * @param durations the slowest types among the newest runs
 */
public record Overview(
    Stats stats, List<QueueView> queues, List<WorkerView> workers, List<TypeDuration> durations) {

  static final int QUEUES_MAX = 50;
  static final int WORKERS_MAX = 50;
  static final int TYPES_MAX = 20;

  /** How many of the newest runs are read to find the slowest types. */
  static final int RUNS_MAX = 1_000;

  public Overview {
    queues = List.copyOf(queues);
    workers = List.copyOf(workers);
    durations = List.copyOf(durations);
  }
}
