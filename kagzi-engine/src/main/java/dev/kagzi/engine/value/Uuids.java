package dev.kagzi.engine.value;

import java.util.Comparator;
import java.util.Optional;
import java.util.UUID;

/** What {@link UUID} itself does not offer. */
public final class Uuids {
  /** The order that PostgreSQL gives to uuid values: unsigned, where Java's own is signed. */
  public static final Comparator<UUID> ORDER =
      (a, b) -> {
        int high = Long.compareUnsigned(a.getMostSignificantBits(), b.getMostSignificantBits());
        return high != 0
            ? high
            : Long.compareUnsigned(a.getLeastSignificantBits(), b.getLeastSignificantBits());
      };

  private static final int TEXT_LENGTH = 36;

  private Uuids() {}

  /** Strict: {@link UUID#fromString} also takes shortened forms, which name no row of ours. */
  public static Optional<UUID> parse(String text) {
    if (text.length() != TEXT_LENGTH) {
      return Optional.empty();
    }
    try {
      return Optional.of(UUID.fromString(text));
    } catch (IllegalArgumentException notAnId) {
      return Optional.empty();
    }
  }
}
