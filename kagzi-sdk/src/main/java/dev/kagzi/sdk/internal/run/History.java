package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.StepKind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The recorded steps that the code has not asked for yet. Keys of a branch's steps begin with its
 * scope, which ends with a slash. Thread-safe.
 */
final class History {
  private final Map<String, RecordedStep> steps;

  /** By scope, the steps that have a {@linkplain ReplayCheck#hasPosition position}. */
  private final Map<String, List<RecordedStep>> ordered = new HashMap<>();

  /** The keys that an earlier execution in this process asked for, by scope. */
  private final Map<String, List<String>> askedBefore;

  private final Map<String, ReplayCheck> checks = new ConcurrentHashMap<>();

  /** The number of remaining steps per scope, nested scopes included. */
  private final Map<String, AtomicInteger> remaining = new ConcurrentHashMap<>();

  private volatile boolean discardedOpen;

  /** Started children whose end the code has not received. */
  private final AtomicInteger children = new AtomicInteger();

  /** Sleeps and receives that have begun and not ended; those of stopped branches stay counted. */
  private final AtomicInteger waits = new AtomicInteger();

  /** The keys of receives that the code asked for. */
  private final Set<String> receives = ConcurrentHashMap.newKeySet();

  History(Map<String, RecordedStep> recorded) {
    this(recorded, Map.of());
  }

  History(Map<String, RecordedStep> recorded, Map<String, List<String>> askedBefore) {
    this.steps = new ConcurrentHashMap<>(recorded);
    this.askedBefore = askedBefore;
    for (RecordedStep step : recorded.values()) {
      String key = step.getStepKey();
      count(key, 1);
      if (ReplayCheck.hasPosition(step)) {
        String scope = key.substring(0, key.lastIndexOf('/') + 1);
        ordered.computeIfAbsent(scope, unused -> new ArrayList<>()).add(step);
      }
    }
  }

  ReplayCheck check(String scope) {
    return checks.computeIfAbsent(
        scope,
        unused ->
            new ReplayCheck(
                ordered.getOrDefault(scope, List.of()),
                steps::containsKey,
                askedBefore.getOrDefault(scope, List.of())));
  }

  /** Returns the keys that the code asked for, by scope. No workflow thread may ask meanwhile. */
  Map<String, List<String>> asked() {
    Map<String, List<String>> asked = new HashMap<>();
    checks.forEach((scope, check) -> asked.put(scope, List.copyOf(check.asked())));
    return asked;
  }

  private void count(String key, int by) {
    remaining.computeIfAbsent("", scope -> new AtomicInteger()).addAndGet(by);
    for (int slash = key.indexOf('/'); slash >= 0; slash = key.indexOf('/', slash + 1)) {
      remaining
          .computeIfAbsent(key.substring(0, slash + 1), scope -> new AtomicInteger())
          .addAndGet(by);
    }
  }

  @Nullable RecordedStep take(String key) {
    RecordedStep step = steps.get(key);
    if (step != null && step.getKind() == StepKind.STEP_KIND_SIGNAL) {
      // Before the removal: another branch may win meanwhile, and must find this receive.
      receives.add(key);
    }
    return remove(key);
  }

  private @Nullable RecordedStep remove(String key) {
    RecordedStep step = steps.remove(key);
    if (step != null) {
      count(key, -1);
    }
    return step;
  }

  /** Whether the code that asks for this step receives a result without executing anything. */
  boolean hasResult(String key) {
    RecordedStep step = steps.get(key);
    return step != null && ReplayCheck.hasResult(step);
  }

  boolean isEmpty(String scope) {
    AtomicInteger count = remaining.get(scope);
    return count == null || count.get() <= 0;
  }

  /**
   * Drops recorded steps with this key prefix; their branches will not run again.
   *
   * @param prefix the scope of a branch, or the common prefix of a group's scopes: {@code pack[}. A
   *     step beside the group may be named {@code pack[x]} and is kept.
   */
  Set<String> discard(String prefix) {
    Set<String> discarded = new HashSet<>();
    for (String key : steps.keySet()) {
      if (key.startsWith(prefix) && isOfBranch(key, prefix)) {
        RecordedStep step = remove(key);
        discardedOpen |= step != null && isOpen(step);
        discarded.add(key);
      }
    }
    return discarded;
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
    waits.incrementAndGet();
  }

  void sleepEnded() {
    waits.decrementAndGet();
  }

  void receiveBegan(String key) {
    receives.add(key);
    waits.incrementAndGet();
  }

  void receiveEnded() {
    waits.decrementAndGet();
  }

  /** Whether a branch has begun a receive, in this execution or in an earlier one. */
  boolean hasReceives(String scope) {
    // First the recorded steps, then the receives: take() adds a key to the receives before it
    // removes the step, so that a receive is found in at least one of them.
    return steps.values().stream()
            .anyMatch(
                step ->
                    step.getKind() == StepKind.STEP_KIND_SIGNAL
                        && step.getStepKey().startsWith(scope))
        || receives.stream().anyMatch(key -> key.startsWith(scope));
  }

  /**
   * Whether the code leaves open steps behind: recorded ones that it did not ask for, children that
   * it did not await, or sleeps and receives of stopped branches.
   */
  boolean leavesOpenSteps() {
    return discardedOpen
        || children.get() > 0
        || waits.get() > 0
        || steps.values().stream().anyMatch(History::isOpen);
  }

  private static boolean isOpen(RecordedStep step) {
    return step.hasOpen() || step.hasSleepsMs();
  }
}
