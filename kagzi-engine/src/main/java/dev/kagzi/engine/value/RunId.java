package dev.kagzi.engine.value;

import com.fasterxml.uuid.Generators;
import com.fasterxml.uuid.impl.TimeBasedEpochRandomGenerator;
import dev.kagzi.engine.internal.value.Uuids;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/** Identifies a run. New ids are UUIDv7, so that runs of the same time are close in the index. */
public record RunId(UUID value) implements Comparable<RunId> {
  private static final TimeBasedEpochRandomGenerator GENERATOR =
      Generators.timeBasedEpochRandomGenerator();

  public static RunId next() {
    return new RunId(GENERATOR.generate());
  }

  public static RunId next(Shard shard) {
    return next().in(shard);
  }

  public Shard shard() {
    return Shard.of(value.getLeastSignificantBits());
  }

  /** The same id, except that its last 16 bits are those of the shard. */
  public RunId in(Shard shard) {
    return new RunId(
        new UUID(value.getMostSignificantBits(), shard.in(value.getLeastSignificantBits())));
  }

  /**
   * Derives an id from this one and a word. The same word gives the same id. The derived id has the
   * timestamp and the shard of this one.
   */
  public RunId derived(String word) {
    return derived(word, value.getMostSignificantBits() >>> 16);
  }

  /** Like {@link #derived(String)}, with another time than that of this id. */
  public RunId derived(String word, Instant time) {
    return derived(word, time.toEpochMilli());
  }

  private RunId derived(String word, long timeMs) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(value.toString().getBytes(StandardCharsets.US_ASCII));
      digest.update(word.getBytes(StandardCharsets.UTF_8));
      ByteBuffer hash = ByteBuffer.wrap(digest.digest());
      long high = (timeMs << 16) | 0x8000L | (hash.getLong() & 0xfffL);
      long low = (hash.getLong() & 0x3fff_ffff_ffff_ffffL) | 0x8000_0000_0000_0000L;
      return new RunId(new UUID(high, low)).in(shard());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("SHA-256: not available (expected: in every JDK)", e);
    }
  }

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
