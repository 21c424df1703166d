package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.TypeVersion;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The number of runs that a batch moved from one status to another; a row of run_changes. */
record RunChange(QueueName queue, TypeVersion type, RunStatus from, RunStatus to, int runs) {

  /** Groups the status changes of these rows. Rows with an unchanged status are left out. */
  static List<RunChange> of(Collection<RunRow> rows) {
    Map<RunChange, Integer> changes = new LinkedHashMap<>();
    for (RunRow row : rows) {
      if (row.previousStatus() != row.status()) {
        RunChange one =
            new RunChange(row.queue(), row.type(), row.previousStatus(), row.status(), 1);
        changes.merge(one, 1, Integer::sum);
      }
    }
    return changes.entrySet().stream()
        .map(entry -> entry.getKey().times(entry.getValue()))
        .toList();
  }

  private RunChange times(int count) {
    return new RunChange(queue, type, from, to, count);
  }
}
