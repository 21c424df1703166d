package dev.kagzi.engine.query;

import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.WorkerId;
import java.time.Instant;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Filter of a list of runs; null matches all.
 *
 * @param statuses any of these; empty for all
 * @param createdAfter from this time on
 * @param topLevel only runs without a parent
 * @param blocked only runs that the code of their workers cannot continue
 * @param due only runs that wait for a worker: a worker could take them now
 * @param worker only runs that this worker executes
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
    boolean blocked,
    boolean due,
    @Nullable WorkerId worker) {

  /** A filter of runs that any worker or none executes. */
  public RunFilter(
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
    this(
        namespace,
        statuses,
        type,
        queue,
        createdAfter,
        createdBefore,
        version,
        externalId,
        parentRunId,
        scheduleId,
        topLevel,
        blocked,
        false,
        null);
  }

  public RunFilter {
    // In enum order, so that equal filters have equal texts on every server: page tokens depend on
    // it.
    EnumSet<RunStatus> sorted = EnumSet.noneOf(RunStatus.class);
    sorted.addAll(statuses);
    statuses = Collections.unmodifiableSet(sorted);
  }

  public static RunFilter ofSchedule(String namespace, @Nullable UUID scheduleId) {
    return new RunFilter(
        namespace, Set.of(), null, null, null, null, null, null, null, scheduleId, false, false);
  }

  public static RunFilter ofParent(String namespace, RunId parent) {
    return new RunFilter(
        namespace, Set.of(), null, null, null, null, null, null, parent, null, false, false);
  }

  public static RunFilter all(String namespace) {
    return ofSchedule(namespace, null);
  }
}
