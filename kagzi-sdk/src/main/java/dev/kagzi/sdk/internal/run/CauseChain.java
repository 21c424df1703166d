package dev.kagzi.sdk.internal.run;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/** The causes of an exception. */
final class CauseChain {
  /** Deeper causes add no information. */
  private static final int DEPTH_MAX = 20;

  private CauseChain() {}

  /** From the outside in, without the exception itself; stops at a cycle. */
  static List<Throwable> of(Throwable thrown) {
    List<Throwable> causes = new ArrayList<>();
    Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    seen.add(thrown);
    Throwable cause = thrown.getCause();
    while (cause != null && causes.size() < DEPTH_MAX && seen.add(cause)) {
      causes.add(cause);
      cause = cause.getCause();
    }
    return causes;
  }
}
