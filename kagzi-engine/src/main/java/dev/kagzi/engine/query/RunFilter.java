package dev.kagzi.engine.query;

import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import java.time.Instant;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Which runs a list shows; null asks for nothing.
 *
 * @param statuses any of these; empty for all
 * @param createdAfter from this time on
 * @param createdBefore up to this time, itself excluded
 * @param topLevel only runs without a parent
 * @param blocked only runs that cannot go on with the code that their workers have
 */
public record RunFilter(
    String namespace,
    Set<RunStatus> statuses,
    @Nullable String type,
    @Nullable String queue,
    @Nullable Instant createdAfter,
    @Nullable Instant createdBefore,
    @Nullable String version,
    @Nullable String externalId,
    @Nullable RunId parentRunId,
    @Nullable UUID scheduleId,
    boolean topLevel,
    boolean blocked) {

  public RunFilter {
    // In the order of the enum, so that equal filters have equal texts on every server.
    EnumSet<RunStatus> sorted = EnumSet.noneOf(RunStatus.class);
    sorted.addAll(statuses);
    statuses = Collections.unmodifiableSet(sorted);
  }

  /** Runs of any origin. */
  public RunFilter(
      String namespace,
      Set<RunStatus> statuses,
      @Nullable String type,
      @Nullable String queue,
      @Nullable Instant createdAfter,
      @Nullable Instant createdBefore,
      @Nullable String version,
      @Nullable String externalId) {
    this(
        namespace,
        statuses,
        type,
        queue,
        createdAfter,
        createdBefore,
        version,
        externalId,
        null,
        null,
        false,
        false);
  }

  /** The runs of a schedule. */
  public static RunFilter ofSchedule(String namespace, UUID scheduleId) {
    return new RunFilter(
        namespace, Set.of(), null, null, null, null, null, null, null, scheduleId, false, false);
  }

  /** All runs of a namespace. */
  public static RunFilter all(String namespace) {
    return new RunFilter(namespace, Set.of(), null, null, null, null, null, null);
  }
}
