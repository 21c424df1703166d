package dev.kagzi.torture;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Rules for a schedule whose runs must not overlap: at most one run is open, no slot waits while no
 * run is open, and no slot is missed while no run is open.
 *
 * <p>Times in the rows cannot prove the last rule. A server that is paused while it ends a run
 * writes the time when its transaction began, and until the commit all others see the run as open.
 * Two plain snapshots cannot prove it either: a server may decide on a slot before the first
 * snapshot and commit after it. So the first snapshot locks the schedule. A later decision then
 * sees what the snapshot has seen.
 */
final class OverlapRules {
  private final List<String> problems;
  private final Map<String, Snapshot> before = new HashMap<>();
  private int decisions;

  /**
   * @param problems receives the problems that are found
   */
  OverlapRules(List<String> problems) {
    this.problems = problems;
  }

  /**
   * A schedule in a snapshot.
   *
   * @param held whether the snapshot locked it, so that no server was deciding on its slots
   * @param waits whether a slot waits for the end of a run
   * @param open how many of its runs have not ended
   * @param total how many runs it has had
   */
  record Snapshot(String name, boolean held, boolean waits, long open, long total, long missed) {}

  /** The number of observed decisions before which no run was open. */
  int decisions() {
    return decisions;
  }

  void check(Snapshot now) {
    if (now.open > 1) {
      problems.add(now.name + ": " + now.open + " runs are open at once");
    }
    if (now.waits && now.open == 0) {
      problems.add(now.name + ": a slot waits although no run is open");
    }
    Snapshot last = before.put(now.name, now);
    if (last == null || !last.held || last.open > 0) {
      return;
    }
    if (last.total < now.total || last.missed < now.missed) {
      decisions++;
    }
    if (last.total == now.total && last.missed < now.missed) {
      problems.add(now.name + ": a slot was missed although no run was open");
    }
  }
}
