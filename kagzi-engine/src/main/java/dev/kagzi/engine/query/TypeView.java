package dev.kagzi.engine.query;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A workflow type that has runs.
 *
 * @param openRuns runs that have not ended
 * @param taskQueues queues of its runs, by name; the number is limited
 * @param openByVersion open runs of each version; the number is limited
 */
public record TypeView(
    String type,
    long runs,
    long openRuns,
    List<String> taskQueues,
    Map<String, Long> openByVersion) {

  public TypeView {
    taskQueues = List.copyOf(taskQueues);
    openByVersion = Collections.unmodifiableMap(new LinkedHashMap<>(openByVersion));
  }
}
