package dev.kagzi.engine.memory;

/**
 * How much memory what calls bring and take may have.
 *
 * @param callBytesMax requests, answers and tasks on their way, all together
 */
public record MemoryConfig(long callBytesMax) {

  /** What calls get of the heap unless the configuration says otherwise. */
  private static final int PERCENT = 25;

  private static final long READ_BYTES_MAX = 32L << 20;

  // Shares of the heap, for journals that are configured for a larger one.
  private static final int QUEUE_SHARE = 8;
  private static final int BATCH_SHARE = 32;

  public static MemoryConfig defaults() {
    return ofHeap(PERCENT);
  }

  /** So many percent of the most that this JVM's heap may be. */
  public static MemoryConfig ofHeap(int percent) {
    return new MemoryConfig(Runtime.getRuntime().maxMemory() / 100 * percent);
  }

  /** Requests, from their first byte to the end of their call. */
  public long requestBytesMax() {
    return callBytesMax * 3 / 8;
  }

  /** Answers that their readers have not taken yet. */
  public long answerBytesMax() {
    return callBytesMax * 3 / 8;
  }

  /** Tasks that were claimed and are on their way to workers. */
  public long taskBytesMax() {
    return callBytesMax / 4;
  }

  /** Payloads that one read of many rows brings. */
  public long readBytesMax() {
    return Math.min(READ_BYTES_MAX, callBytesMax / 16);
  }

  /** The journal's queue: as configured, but no more than this heap has room for. */
  public static long queueBytesMax(long configured) {
    return Math.min(configured, Runtime.getRuntime().maxMemory() / QUEUE_SHARE);
  }

  /** One transaction's writes, in the same way. */
  public static long batchBytesMax(long configured) {
    return Math.min(configured, Runtime.getRuntime().maxMemory() / BATCH_SHARE);
  }
}
