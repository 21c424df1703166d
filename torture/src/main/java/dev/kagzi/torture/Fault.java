package dev.kagzi.torture;

import java.time.Duration;

/**
 * One fault of a plan.
 *
 * @param at when, from the start of the plan
 * @param target the index of the worker or server
 * @param lasts how long until it is healed
 */
record Fault(Duration at, FaultKind kind, int target, Duration lasts) {
  @Override
  public String toString() {
    String who =
        switch (kind.victim()) {
          case WORKER -> " (worker-" + (target + 1) + ")";
          case SERVER -> " (server-" + (target + 1) + ")";
          case POSTGRES -> "";
        };
    return kind.text() + who + (lasts.isZero() ? "" : ", for " + lasts.toMillis() + " ms");
  }
}
