package dev.kagzi.sdk.internal.run;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Random;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Ids and random numbers of one scope. They depend on the run's id, the scope and the number of
 * earlier calls only, so they are the same in every execution. Not thread-safe.
 */
final class DerivedValues {
  private final String runId;
  private final String scope;
  private final Runnable checkUse;
  private int ids;
  private @Nullable ScopeRandom random;

  /** The check is called before each use; it throws if the calling code is not of this scope. */
  DerivedValues(String runId, String scope, Runnable checkUse) {
    this.runId = runId;
    this.scope = scope;
    this.checkUse = checkUse;
  }

  UUID uuid() {
    checkUse.run();
    ids++;
    return nameBased(UUID.fromString(runId), scope + "uuid#" + ids);
  }

  Random random() {
    checkUse.run();
    ScopeRandom created = random;
    if (created == null) {
      UUID seed = nameBased(UUID.fromString(runId), scope + "random");
      created = new ScopeRandom(seed.getMostSignificantBits() ^ seed.getLeastSignificantBits());
      random = created;
    }
    return created;
  }

  /** A UUID of version 5 (RFC 9562): a hash of a namespace and a name. */
  static UUID nameBased(UUID namespace, String name) {
    byte[] text = name.getBytes(StandardCharsets.UTF_8);
    ByteBuffer both =
        ByteBuffer.allocate(2 * Long.BYTES + text.length)
            .putLong(namespace.getMostSignificantBits())
            .putLong(namespace.getLeastSignificantBits())
            .put(text);
    ByteBuffer hashed = ByteBuffer.wrap(sha1().digest(both.array()));
    long high = (hashed.getLong() & 0xffff_ffff_ffff_0fffL) | 0x5000L;
    long low = (hashed.getLong() & 0x3fff_ffff_ffff_ffffL) | 0x8000_0000_0000_0000L;
    return new UUID(high, low);
  }

  private static MessageDigest sha1() {
    try {
      return MessageDigest.getInstance("SHA-1");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("SHA-1: not available (expected: in every Java)", e);
    }
  }

  /**
   * Generates numbers with SplitMix64. {@link Random} specifies its other methods in terms of
   * {@link #next}, so the numbers do not depend on the Java version of the worker.
   */
  @SuppressWarnings("serial") // Never serialized; Random is Serializable.
  private final class ScopeRandom extends Random {
    private long state;

    ScopeRandom(long seed) {
      super(seed);
      this.state = seed;
    }

    @Override
    public synchronized void setSeed(long seed) {
      super.setSeed(seed);
      state = seed;
    }

    @Override
    protected int next(int bits) {
      checkUse.run();
      state += 0x9e37_79b9_7f4a_7c15L;
      long mixed = (state ^ (state >>> 30)) * 0xbf58_476d_1ce4_e5b9L;
      mixed = (mixed ^ (mixed >>> 27)) * 0x94d0_49bb_1331_11ebL;
      return (int) ((mixed ^ (mixed >>> 31)) >>> (64 - bits));
    }
  }
}
