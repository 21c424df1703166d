package dev.kagzi.engine.value;

import java.util.Optional;
import java.util.UUID;

/** Identifies one registration of a worker. */
public record WorkerId(UUID value) {
  /** A new id that nobody else has. */
  public static WorkerId next() {
    return new WorkerId(RunId.next().value());
  }

  /** The id that the text spells, or nothing when it spells none. */
  public static Optional<WorkerId> parse(String text) {
    return Uuids.parse(text).map(WorkerId::new);
  }

  @Override
  public String toString() {
    return value.toString();
  }
}
