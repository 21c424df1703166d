package dev.kagzi.engine.query;

import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunStatus;
import java.time.Instant;
import java.util.List;

/**
 * The published values of a run.
 *
 * @param values at most one of each name, ordered by name
 * @param status of the run, read together with the values
 */
public record PublishedView(List<Value> values, RunStatus status) {
  public PublishedView {
    values = List.copyOf(values);
  }

  /**
   * The last value of a name.
   *
   * @param version increases with each value of the run
   */
  public record Value(String name, Payload payload, long version, Instant publishedAt) {}
}
