package dev.kagzi.engine.value;

import java.util.Optional;
import java.util.UUID;

/** Identifies one registration of a worker. */
public record WorkerId(UUID value) {
  /** Returns a new unique id. */
  public static WorkerId next() {
    return new WorkerId(RunId.next().value());
  }

  /** Parses an id; empty if the text is not a UUID. */
  public static Optional<WorkerId> parse(String text) {
    return Uuids.parse(text).map(WorkerId::new);
  }

  @Override
  public String toString() {
    return value.toString();
  }
}
