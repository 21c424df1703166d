package dev.kagzi.engine.value;

import dev.kagzi.engine.internal.value.Uuids;
import java.util.Optional;
import java.util.UUID;

/** Identifies one registration of a worker. */
public record WorkerId(UUID value) {
  public static WorkerId next() {
    return new WorkerId(RunId.next().value());
  }

  public static Optional<WorkerId> parse(String text) {
    return Uuids.parse(text).map(WorkerId::new);
  }

  @Override
  public String toString() {
    return value.toString();
  }
}
