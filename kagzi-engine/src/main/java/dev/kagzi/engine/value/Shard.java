package dev.kagzi.engine.value;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Locale;

/**
 * The last 16 bits of a run id. Equal for runs that one transaction may have to change together:
 * runs with the same external id, runs of one schedule, and a run and the runs that it starts
 * without an external id. So runs can be spread over several databases later without a change of
 * their ids.
 *
 * @param bits 0 to 65535
 */
public record Shard(int bits) {
  private static final int MASK = 0xffff;

  public Shard {
    if (bits < 0 || bits > MASK) {
      throw new IllegalArgumentException("shard: " + bits + " (expected: 0 to " + MASK + ")");
    }
  }

  /**
   * The shard of a run with this external id, or of a schedule with this name: the first two bytes
   * of SHA-256 over the namespace, a zero byte and the key, in UTF-8. Clients compute the same.
   */
  public static Shard of(String namespace, String key) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(namespace.getBytes(StandardCharsets.UTF_8));
      digest.update((byte) 0);
      byte[] hash = digest.digest(key.getBytes(StandardCharsets.UTF_8));
      return new Shard(((hash[0] & 0xff) << 8) | (hash[1] & 0xff));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("SHA-256: not there (expected: in every JDK)", e);
    }
  }

  /**
   * Throws a {@link Refusal} if the run id that a caller chose is not in this shard.
   *
   * @param source what this shard is computed from, for the message
   */
  public void require(String field, RunId id, String source) {
    if (!id.shard().equals(this)) {
      throw Refusal.invalid(
          field, id, "an id that ends with " + this + ", which follows from " + source);
    }
  }

  static Shard of(long leastSignificantBits) {
    return new Shard((int) (leastSignificantBits & MASK));
  }

  long in(long leastSignificantBits) {
    return (leastSignificantBits & ~(long) MASK) | bits;
  }

  /** Four hexadecimal digits, as at the end of an id. */
  @Override
  public String toString() {
    return String.format(Locale.ROOT, "%04x", bits);
  }
}
