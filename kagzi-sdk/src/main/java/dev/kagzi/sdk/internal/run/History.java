package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.RecordedStep;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The recorded steps that the code has not come by yet. Keys of a branch's steps begin with its
 * scope, which ends with a slash. Thread-safe.
 */
final class History {
  private final Map<String, RecordedStep> steps;

  /** Those that have a place in the order of their claim, by scope. */
  private final Map<String, List<RecordedStep>> placed = new HashMap<>();

  /** What an earlier execution by this process asked for, by scope. */
  private final Map<String, List<String>> askedBefore;

  private final Map<String, ReplayCheck> checks = new ConcurrentHashMap<>();

  /** How many are left in each scope, those of scopes within it included. */
  private final Map<String, AtomicInteger> left = new ConcurrentHashMap<>();

  private volatile boolean discardedOpen;

  /** Children that have started, and that nobody has heard of yet. */
  private final AtomicInteger children = new AtomicInteger();

  /** Sleeps that branches are in; one that is stopped leaves its own behind. */
  private final AtomicInteger sleeps = new AtomicInteger();

  History(Map<String, RecordedStep> recorded) {
    this(recorded, Map.of());
  }

  History(Map<String, RecordedStep> recorded, Map<String, List<String>> askedBefore) {
    this.steps = new ConcurrentHashMap<>(recorded);
    this.askedBefore = askedBefore;
    for (RecordedStep step : recorded.values()) {
      String key = step.getStepKey();
      count(key, 1);
      if (ReplayCheck.hasPlace(step)) {
        String scope = key.substring(0, key.lastIndexOf('/') + 1);
        placed.computeIfAbsent(scope, unused -> new ArrayList<>()).add(step);
      }
    }
  }

  /** Follows the code of a scope. */
  ReplayCheck check(String scope) {
    return checks.computeIfAbsent(
        scope,
        unused ->
            new ReplayCheck(
                placed.getOrDefault(scope, List.of()),
                steps::containsKey,
                askedBefore.getOrDefault(scope, List.of())));
  }

  /** What the code has asked for, by scope. Its threads have to be at rest. */
  Map<String, List<String>> asked() {
    Map<String, List<String>> asked = new HashMap<>();
    checks.forEach((scope, check) -> asked.put(scope, List.copyOf(check.asked())));
    return asked;
  }

  private void count(String key, int by) {
    left.computeIfAbsent("", scope -> new AtomicInteger()).addAndGet(by);
    for (int slash = key.indexOf('/'); slash >= 0; slash = key.indexOf('/', slash + 1)) {
      left.computeIfAbsent(key.substring(0, slash + 1), scope -> new AtomicInteger()).addAndGet(by);
    }
  }

  /** The step's record, once. */
  @Nullable RecordedStep take(String key) {
    RecordedStep step = steps.remove(key);
    if (step != null) {
      count(key, -1);
    }
    return step;
  }

  boolean isEmpty(String scope) {
    AtomicInteger count = left.get(scope);
    return count == null || count.get() <= 0;
  }

  /**
   * Of steps whose keys begin so nobody will ask: their branches are not executed again.
   *
   * @param prefix the scope of a branch, or what the scopes of a group's branches begin with:
   *     {@code pack[}; a step beside them may be named {@code pack[x]} and is none of theirs
   */
  void discard(String prefix) {
    for (String key : steps.keySet()) {
      if (key.startsWith(prefix) && isOfBranch(key, prefix)) {
        RecordedStep step = take(key);
        discardedOpen |= step != null && isOpen(step);
      }
    }
  }

  private static boolean isOfBranch(String key, String prefix) {
    int end = prefix.endsWith("/") ? prefix.length() - 2 : key.indexOf(']', prefix.length());
    return end >= 0 && key.startsWith("]/", end);
  }

  void childBegan() {
    children.incrementAndGet();
  }

  void childEnded() {
    children.decrementAndGet();
  }

  void sleepBegan() {
    sleeps.incrementAndGet();
  }

  void sleepEnded() {
    sleeps.decrementAndGet();
  }

  /**
   * Whether the record shows steps as running that the code did not come by, since it has changed
   * or took another way. What it came by has ended with it.
   */
  boolean leavesOpenSteps() {
    return discardedOpen
        || children.get() > 0
        || sleeps.get() > 0
        || steps.values().stream().anyMatch(History::isOpen);
  }

  private static boolean isOpen(RecordedStep step) {
    return step.hasOpen() || step.hasSleepsMs();
  }
}
