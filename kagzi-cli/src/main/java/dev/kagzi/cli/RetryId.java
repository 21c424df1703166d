package dev.kagzi.cli;

import dev.kagzi.protocol.v1.Workflow;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.UUID;

/**
 * The id of the run that retries a run. It is derived from the run and its attempt, so a command
 * that is repeated finds the run that the first one has started. A run that was resumed and failed
 * again has another attempt, and can be retried again.
 */
final class RetryId {
  private static final long TIME = ~0xffffL;
  private static final long SHARD = 0xffffL;

  private RetryId() {}

  /**
   * Returns a UUID of version 8. It has the timestamp of the run's id, because the index of ids is
   * sorted by time. It also has the last 16 bits of the run's id: they are the shard, and the
   * server requires the same shard.
   */
  static String of(Workflow run) {
    UUID id = UUID.fromString(run.getRunId());
    ByteBuffer hash = ByteBuffer.wrap(sha256(id + " retry " + run.getAttempts()));
    long high = (id.getMostSignificantBits() & TIME) | 0x8000L | (hash.getLong() & 0xfffL);
    long variant = (hash.getLong() & 0x3fff_ffff_ffff_ffffL) | 0x8000_0000_0000_0000L;
    long low = (variant & ~SHARD) | (id.getLeastSignificantBits() & SHARD);
    return new UUID(high, low).toString();
  }

  private static byte[] sha256(String text) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.US_ASCII));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("SHA-256: not available (expected: in every JDK)", e);
    }
  }
}
