package dev.kagzi.sdk.internal.wire;

import com.fasterxml.uuid.Generators;
import com.fasterxml.uuid.impl.TimeBasedEpochRandomGenerator;
import dev.kagzi.protocol.v1.StartWorkflowRequestOrBuilder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * Generates ids of runs and schedules. The last 16 bits of an id are its shard. The shard is
 * computed from the external id or the schedule's name, or copied from the schedule or run that the
 * id belongs to. Without any of these, the shard is random.
 */
public final class RunIds {
  // Ids of the same millisecond must not differ in their last bits only: the shard replaces these.
  private static final TimeBasedEpochRandomGenerator GENERATOR =
      Generators.timeBasedEpochRandomGenerator();

  private static final String DEFAULT_NAMESPACE = "default";
  private static final int SHARD_DIGITS = 4;

  private RunIds() {}

  public static String next() {
    return GENERATOR.generate().toString();
  }

  /**
   * Returns an id for the run that a request starts. Its shard is that of the external id or,
   * without one, that of the run whose step sends the request.
   */
  public static String ofStart(String namespace, StartWorkflowRequestOrBuilder start) {
    return start.getExternalId().isEmpty()
        ? nextBeside(start.getParentRunId())
        : next(namespace, start.getExternalId());
  }

  /**
   * Returns an id in the shard of this external id or schedule name; in a random shard if it is
   * empty.
   */
  static String next(String namespace, String name) {
    return name.isEmpty() ? next() : withShard(next(), shard(namespace, name));
  }

  /**
   * Returns a new id in the shard of the given id. If the text is shorter than a shard, the shard
   * is random; the text is not checked otherwise.
   */
  static String nextBeside(String id) {
    return id.length() < SHARD_DIGITS
        ? next()
        : withShard(next(), id.substring(id.length() - SHARD_DIGITS));
  }

  private static String withShard(String id, String shard) {
    return id.substring(0, id.length() - SHARD_DIGITS) + shard;
  }

  /**
   * Returns the shard of a key: the first two bytes of SHA-256 over namespace, a zero byte and key.
   * The server computes it in the same way.
   */
  static String shard(String namespace, String key) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(
          (namespace.isEmpty() ? DEFAULT_NAMESPACE : namespace).getBytes(StandardCharsets.UTF_8));
      digest.update((byte) 0);
      byte[] hash = digest.digest(key.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(hash, 0, 2);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("SHA-256: not there (expected: in every JDK)", e);
    }
  }
}
