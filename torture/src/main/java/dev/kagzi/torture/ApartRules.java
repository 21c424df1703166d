package dev.kagzi.torture;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What holds at any moment for a schedule whose runs must not overlap: never are two of them open,
 * no slot waits while none is, and none is missed while none is.
 *
 * <p>The times in the rows could not tell the last: a server that is paused while it ends a run
 * writes when that began, and until it is durable the run is open for all others. Nor could two
 * snapshots: a decision may be taken before the first, and be durable after it. So the first must
 * hold the schedule; who decides later sees what the snapshot has seen.
 */
final class ApartRules {
  private final List<String> problems;
  private final Map<String, Seen> before = new HashMap<>();
  private int decisions;

  /**
   * @param problems those that are found are added
   */
  ApartRules(List<String> problems) {
    this.problems = problems;
  }

  /**
   * A schedule in a snapshot.
   *
   * @param held nobody was deciding on its slots
   * @param waits a slot waits for the end of a run
   * @param open how many of its runs have not ended
   * @param total how many runs it has had
   */
  record Seen(String name, boolean held, boolean waits, long open, long total, long missed) {}

  /** How many decisions it could tell of that no run was open before them. */
  int decisions() {
    return decisions;
  }

  void check(Seen now) {
    if (now.open > 1) {
      problems.add(now.name + ": " + now.open + " runs are open at once");
    }
    if (now.waits && now.open == 0) {
      problems.add(now.name + ": a slot waits although no run is open");
    }
    Seen last = before.put(now.name, now);
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
