package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.value.Refusal;
import java.util.List;

/**
 * Prefixes of the external ids of runs that the engine starts itself. Clients may not use them: a
 * client's run with the same id would keep the engine's run from starting.
 */
public final class ReservedIds {
  public static final String SCHEDULE = "schedule:";

  /** For the failure handler that the start of a run, or its schedule, has set. */
  public static final String FAILURE_HANDLER = "failure-";

  /** For the failure handler of a namespace. */
  public static final String NAMESPACE_FAILURE_HANDLER = "system-failure-";

  public static final List<String> PREFIXES =
      List.of(SCHEDULE, FAILURE_HANDLER, NAMESPACE_FAILURE_HANDLER);

  private ReservedIds() {}

  public static void check(String externalId) {
    for (String prefix : PREFIXES) {
      if (externalId.startsWith(prefix)) {
        throw Refusal.invalid(
            "external_id",
            Refusal.shorten(externalId),
            "an id that does not begin with " + prefix + ", which is reserved for the engine");
      }
    }
  }
}
