package dev.kagzi.engine.internal.value;

import java.util.Comparator;
import java.util.Optional;
import java.util.UUID;

/** PostgreSQL's order of UUIDs, and strict parsing. */
public final class Uuids {
  /** PostgreSQL's order of uuid values: unsigned, while Java's is signed. */
  public static final Comparator<UUID> ORDER =
      (a, b) -> {
        int high = Long.compareUnsigned(a.getMostSignificantBits(), b.getMostSignificantBits());
        return high != 0
            ? high
            : Long.compareUnsigned(a.getLeastSignificantBits(), b.getLeastSignificantBits());
      };

  private static final int TEXT_LENGTH = 36;

  private Uuids() {}

  /** Parses the form 8-4-4-4-12 only; {@link UUID#fromString} also accepts others. */
  public static Optional<UUID> parse(String text) {
    if (text.length() != TEXT_LENGTH || !hasDashesInPlace(text) || text.indexOf('+') >= 0) {
      return Optional.empty();
    }
    try {
      return Optional.of(UUID.fromString(text));
    } catch (IllegalArgumentException notAnId) {
      return Optional.empty();
    }
  }

  private static boolean hasDashesInPlace(String text) {
    return text.charAt(8) == '-'
        && text.charAt(13) == '-'
        && text.charAt(18) == '-'
        && text.charAt(23) == '-';
  }
}
