package dev.kagzi.engine.schedule;

import dev.kagzi.engine.value.Refusal;
import java.util.Arrays;

/** What becomes of a slot while an earlier run of the schedule has not ended. */
public enum Overlap {
  /** It becomes a run beside the others. */
  ALLOW,
  /** It becomes none. */
  SKIP,
  /**
   * The first one waits, and becomes a run with the end of the earlier; further ones become none.
   */
  BUFFER_ONE;

  /** Refuses what is none. */
  static Overlap read(String name) {
    for (Overlap overlap : values()) {
      if (overlap.name().equals(name)) {
        return overlap;
      }
    }
    throw Refusal.invalid("overlap_policy", name, Arrays.toString(values()));
  }
}
