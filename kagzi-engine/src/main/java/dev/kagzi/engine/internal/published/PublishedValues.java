package dev.kagzi.engine.internal.published;

import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.value.PublishedValue;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The published values that one transaction has read or changes. Decided in memory, under the locks
 * of their runs, and written with one statement. Not thread-safe.
 */
public final class PublishedValues {
  private final Map<RunId, RunValues> runs = new HashMap<>();

  /** The rows of one run by name and scope, and those of them that must be written. */
  private static final class RunValues {
    private final Map<String, Map<String, PublishedRow>> rows = new HashMap<>();
    private final Map<String, Map<String, PublishedRow>> changed = new LinkedHashMap<>();
    private int count;
    private long bytes;

    /** Adds a row, or replaces the row of the same name and scope. */
    void put(PublishedRow row) {
      PublishedRow before = of(row.name()).put(row.scope(), row);
      count += before == null ? 1 : 0;
      bytes += row.bytes() - (before == null ? 0 : before.bytes());
    }

    void change(PublishedRow row) {
      put(row);
      changed.computeIfAbsent(row.name(), name -> new LinkedHashMap<>()).put(row.scope(), row);
    }

    Map<String, PublishedRow> of(String name) {
      return rows.computeIfAbsent(name, unused -> new HashMap<>());
    }
  }

  /** Reads what is stored of these runs; call it before {@link #add}. */
  public void read(Session tx, Collection<RunId> ids) throws SQLException {
    if (!ids.isEmpty()) {
      PublishedRows.read(tx, ids).forEach(row -> values(row.runId()).put(row));
    }
  }

  private RunValues values(RunId run) {
    return runs.computeIfAbsent(run, id -> new RunValues());
  }

  /**
   * Adds the values that are later than the stored ones. Stops at the first value that would exceed
   * a limit of the run (names or bytes) and returns a refusal; the values before it are added.
   *
   * @param runAttempt the attempt of the run
   * @param epoch the claim that reports the values
   */
  public @Nullable Refusal add(RunId run, int runAttempt, int epoch, List<PublishedValue> values) {
    RunValues stored = values(run);
    for (PublishedValue value : values) {
      PublishedRow row =
          new PublishedRow(
              run,
              value.name(),
              value.scope(),
              runAttempt,
              value.sequence(),
              PublishedRow.version(epoch, value.order()),
              true,
              value.payload().data().length,
              value.payload());
      PublishedRow before = stored.of(row.name()).get(row.scope());
      if (before != null && !row.isAfter(before)) {
        continue;
      }
      Refusal refusal = refusal(stored, before, row);
      if (refusal != null) {
        return refusal;
      }
      add(stored, row);
    }
    return null;
  }

  /** Of the rows of one name, only the latest keeps its value. */
  private static void add(RunValues stored, PublishedRow row) {
    PublishedRow added = row;
    for (PublishedRow other : List.copyOf(stored.of(row.name()).values())) {
      if (other.scope().equals(row.scope()) || !other.isCurrent()) {
        continue;
      }
      if (other.version() > row.version()) {
        added = row.superseded();
      } else {
        stored.change(other.superseded());
      }
    }
    stored.change(added);
  }

  private static @Nullable Refusal refusal(
      RunValues stored, @Nullable PublishedRow before, PublishedRow row) {
    if (before == null && stored.count >= PublishedValue.RUN_NAMES_MAX) {
      return Refusal.invalid(
          "published",
          stored.count + 1 + " names, the last of them " + row.name(),
          "at most "
              + PublishedValue.RUN_NAMES_MAX
              + " in one run; a name counts once for each branch that publishes it");
    }
    // The values that this one replaces, in any scope, no longer count.
    long replaced = stored.of(row.name()).values().stream().mapToLong(PublishedRow::bytes).sum();
    long bytes = stored.bytes - replaced + row.bytes();
    return bytes > PublishedValue.RUN_BYTES_MAX
        ? Refusal.invalid(
            "published",
            bytes + " bytes with " + row.name(),
            "at most " + PublishedValue.RUN_BYTES_MAX + " bytes of published values in one run")
        : null;
  }

  /** The runs whose values this transaction changes. */
  public Set<RunId> changed() {
    return runs.entrySet().stream()
        .filter(run -> !run.getValue().changed.isEmpty())
        .map(Map.Entry::getKey)
        .collect(Collectors.toUnmodifiableSet());
  }

  public void flush(Session tx) throws SQLException {
    List<PublishedRow> rows =
        runs.values().stream()
            .flatMap(run -> run.changed.values().stream())
            .flatMap(scopes -> scopes.values().stream())
            .toList();
    if (!rows.isEmpty()) {
      PublishedRows.write(tx, rows);
    }
  }
}
