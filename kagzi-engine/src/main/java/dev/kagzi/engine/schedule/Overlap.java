package dev.kagzi.engine.schedule;

import dev.kagzi.engine.value.Refusal;
import java.util.Arrays;

/** What happens to a slot while an earlier run of the schedule has not ended. */
public enum Overlap {
  ALLOW,
  SKIP,
  /** The first slot waits and becomes a run when the earlier run ends; further slots are missed. */
  BUFFER_ONE;

  public static Overlap read(String name) {
    for (Overlap overlap : values()) {
      if (overlap.name().equals(name)) {
        return overlap;
      }
    }
    throw Refusal.invalid("overlap_policy", name, Arrays.toString(values()));
  }
}
