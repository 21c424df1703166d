package dev.kagzi.engine.config;

/**
 * Memory limits for the payloads of calls.
 *
 * @param callBytesMax requests, answers and tasks in transit, all together
 */
public record MemoryConfig(long callBytesMax) {

  private static final int PERCENT = 25;

  private static final long READ_BYTES_MAX = 32L << 20;

  // All queues of a journal get at most 1/8 of the heap, and a batch 1/32, even if more is
  // configured.
  private static final int QUEUE_SHARE = 8;
  private static final int BATCH_SHARE = 32;

  public static MemoryConfig defaults() {
    return ofHeap(PERCENT);
  }

  public static MemoryConfig ofHeap(int percent) {
    return new MemoryConfig(Runtime.getRuntime().maxMemory() / 100 * percent);
  }

  /** Limit for requests, from their first byte to the end of their call. */
  public long requestBytesMax() {
    return callBytesMax * 3 / 8;
  }

  /** Limit for answers that clients have not read yet. */
  public long answerBytesMax() {
    return callBytesMax * 3 / 8;
  }

  /**
   * Limit for the bodies of HTTP requests that answer callbacks. Not part of the limit for
   * requests: outside systems must not delay the calls of workers.
   */
  public long callbackBytesMax() {
    return callBytesMax / 8;
  }

  /** Limit for claimed tasks that wait for the polls of their workers. */
  public long taskBytesMax() {
    return callBytesMax / 4;
  }

  /** Limit for the payloads of one query that reads many rows. */
  public long readBytesMax() {
    return Math.min(READ_BYTES_MAX, callBytesMax / 16);
  }

  /** Limit of the journal's queues: as configured, or less on a small heap. */
  public static long queueBytesMax(long configured) {
    return Math.min(configured, Runtime.getRuntime().maxMemory() / QUEUE_SHARE);
  }

  /** Limit of one transaction: as configured, or less on a small heap. */
  public static long batchBytesMax(long configured) {
    return Math.min(configured, Runtime.getRuntime().maxMemory() / BATCH_SHARE);
  }
}
