package dev.kagzi.engine.value;

import com.fasterxml.uuid.Generators;
import com.fasterxml.uuid.impl.TimeBasedEpochRandomGenerator;
import java.util.Optional;
import java.util.UUID;

/** Identifies a run. New ones are UUIDv7, so that rows of one time lie together in the index. */
public record RunId(UUID value) implements Comparable<RunId> {
  private static final TimeBasedEpochRandomGenerator GENERATOR =
      Generators.timeBasedEpochRandomGenerator();

  /** A new id that nobody else has. */
  public static RunId next() {
    return new RunId(GENERATOR.generate());
  }

  /** The id that the text spells, or nothing when it spells none. */
  public static Optional<RunId> parse(String text) {
    return Uuids.parse(text).map(RunId::new);
  }

  @Override
  public int compareTo(RunId other) {
    return Uuids.ORDER.compare(value, other.value);
  }

  @Override
  public String toString() {
    return value.toString();
  }
}
