package dev.kagzi.engine.query;

import java.util.List;

/**
 * A queue with its open runs by type and version.
 *
 * @param types ordered by type and version; the number is limited
 * @param served the types and versions that its online workers serve; the number is limited
 */
public record QueueDetails(
    QueueView queue, QueueRate rate, List<OpenRuns> types, List<ServedType> served) {
  static final int TYPES_MAX = 1_000;

  /** The open runs of one version of a type. */
  public record OpenRuns(String type, String version, long pending, long running, long sleeping) {}

  public QueueDetails {
    types = List.copyOf(types);
    served = List.copyOf(served);
  }
}
