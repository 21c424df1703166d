package dev.kagzi.engine.query;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A type of which there are runs.
 *
 * @param openRuns those that have not ended
 * @param taskQueues where its runs are, by name; only so many
 * @param openByVersion unfinished runs of each version; only so many
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
