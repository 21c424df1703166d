package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.ReportItem.ValuesPublished.NewValue;
import dev.kagzi.sdk.InvalidArgumentException;
import java.util.HashMap;
import java.util.Map;

/**
 * Numbers and limits the values that the code of one execution publishes. By the sequence, the
 * server recognizes a value that a replay publishes again. By the order, it shows the value of a
 * name that was published last. Guarded by the lock of the execution state.
 */
final class PublishedCounts {
  // The server has the same limit for a value, and twice the limits for a run: half for the
  // workflow code and half for its steps. They are checked here, too, so that the call that
  // publishes too much throws.
  // The server counts over all executions, so it can still refuse what steps of several executions
  // or several attempts of the run publish under different names.
  private static final int VALUE_BYTES_MAX = 64 << 10;
  private static final int RUN_BYTES_MAX = 1 << 20;
  private static final int NAMES_MAX = 1_000;

  /** What the workflow code has published. A replay counts the same. */
  private final Published byCode = new Published();

  /**
   * What the code of steps has published in this execution. It is counted separately, because a
   * replay does not execute recorded steps, but must refuse the same calls of the workflow code.
   */
  private final Published bySteps = new Published();

  private int order;

  private static final class Published {
    private final Map<PendingValues.Key, Integer> counts = new HashMap<>();
    private final Map<String, Integer> bytes = new HashMap<>();
  }

  /** Returns the next value of this name and scope. */
  NewValue next(String scope, String name, Payload value) {
    PendingValues.Key key = new PendingValues.Key(scope, name);
    NewValue.Builder next = next(byCode, key, value);
    return next.setSequence(byCode.counts.merge(key, 1, Integer::sum)).build();
  }

  /**
   * Returns the next value that a step's code publishes. A replay does not execute that code, so
   * the count of its calls is no sequence. The epoch makes each value later than the values of
   * earlier claims. All steps of a branch share a scope: with a scope for each step, a run with
   * many steps would exceed the limit of names.
   *
   * @param scope the scope of the code that executes the step
   */
  NewValue nextInStep(String scope, int epoch, String name, Payload value) {
    PendingValues.Key key = new PendingValues.Key(scope + "[step]/", name);
    NewValue.Builder next = next(bySteps, key, value);
    bySteps.counts.putIfAbsent(key, 1);
    return next.setSequence(((long) epoch << Integer.SIZE) + next.getOrder()).build();
  }

  private NewValue.Builder next(Published by, PendingValues.Key key, Payload value) {
    String name = key.name();
    checkBytes(by, name, size(value));
    Map<PendingValues.Key, Integer> counts = by.counts;
    if (!counts.containsKey(key) && counts.size() >= NAMES_MAX) {
      throw tooMuch(
          "published names: %d with %s (expected: at most %d in one run; a name counts once for each"
                  .formatted(counts.size() + 1, name, NAMES_MAX)
              + " branch that publishes it)");
    }
    by.bytes.put(name, value.getData().size());
    return NewValue.newBuilder()
        .setName(name)
        .setScope(key.scope())
        .setOrder(++order)
        .setValue(value);
  }

  private static void checkBytes(Published by, String name, int size) {
    if (size > VALUE_BYTES_MAX) {
      throw tooMuch(
          "published value %s: %d bytes (expected: at most %d; a step's result may be larger)"
              .formatted(name, size, VALUE_BYTES_MAX));
    }
    long all = size;
    for (Map.Entry<String, Integer> each : by.bytes.entrySet()) {
      all += each.getKey().equals(name) ? 0 : each.getValue();
    }
    if (all > RUN_BYTES_MAX) {
      throw tooMuch(
          "published values: %d bytes with %s (expected: at most %d in one run)"
              .formatted(all, name, RUN_BYTES_MAX));
    }
  }

  private static int size(Payload value) {
    int size = value.getData().size();
    for (Map.Entry<String, String> entry : value.getMetadataMap().entrySet()) {
      size += entry.getKey().length() + entry.getValue().length();
    }
    return size;
  }

  private static InvalidArgumentException tooMuch(String message) {
    return new InvalidArgumentException("TOO_MUCH_PUBLISHED", message);
  }
}
