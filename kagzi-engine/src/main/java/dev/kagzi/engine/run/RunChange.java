package dev.kagzi.engine.run;

import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.TypeVersion;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** So many runs changed from one status to another: what a counter has to know of a batch. */
record RunChange(QueueName queue, TypeVersion type, RunStatus was, RunStatus became, int runs) {

  /** What a transaction has made of these, folded; nothing for those whose status stays. */
  static List<RunChange> of(Collection<RunRow> rows) {
    Map<RunChange, Integer> changes = new LinkedHashMap<>();
    for (RunRow row : rows) {
      if (row.was() != row.status()) {
        RunChange one = new RunChange(row.queue(), row.type(), row.was(), row.status(), 1);
        changes.merge(one, 1, Integer::sum);
      }
    }
    return changes.entrySet().stream()
        .map(entry -> entry.getKey().times(entry.getValue()))
        .toList();
  }

  private RunChange times(int count) {
    return new RunChange(queue, type, was, became, count);
  }
}
