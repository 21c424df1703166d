package dev.kagzi.sdk;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Thrown by {@link Saga#compensate()} if undos failed permanently. All other undos were executed.
 *
 * <p>{@link #step()} is the first failed step. {@link #failure()} describes all failures together;
 * {@link #failures()} has each of them.
 */
public final class CompensationFailedException extends WorkFailedException {
  private final Map<String, Failure> failures;

  /** Called by the SDK. The undos are in the order in which they were executed. */
  public CompensationFailedException(String step, Map<String, Failure> failures) {
    super(ClientCode.COMPENSATION_FAILED, message(failures), step, together(failures));
    this.failures = Collections.unmodifiableMap(new LinkedHashMap<>(failures));
  }

  /**
   * Returns the failures by the name of the undo, in the order in which the undos were executed.
   * The second undo with the same name is {@code name#2}.
   */
  public Map<String, Failure> failures() {
    return failures;
  }

  private static String message(Map<String, Failure> failures) {
    return failures.entrySet().stream()
        .map(each -> "undo %s failed: %s".formatted(each.getKey(), each.getValue()))
        .collect(Collectors.joining("; "));
  }

  private static Failure together(Map<String, Failure> failures) {
    List<Failure> all = List.copyOf(failures.values());
    String causes =
        all.stream()
            .map(
                failure -> failure.type() + ": " + failure.message().lines().findFirst().orElse(""))
            .collect(Collectors.joining("\n"));
    return new Failure(
        CompensationFailedException.class.getName(),
        message(failures),
        all.stream().anyMatch(Failure::nonRetryable),
        Map.of("kind", all.getFirst().kind().name(), "cause", causes));
  }
}
