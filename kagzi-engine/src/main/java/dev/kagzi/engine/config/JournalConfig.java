package dev.kagzi.engine.config;

import java.time.Duration;

/**
 * Limits of the journal.
 *
 * @param lanes number of serial writers; two are best on two cores, more do not help
 * @param queueBytesMax bytes of queued writes in all lanes together
 * @param fullPatience how long a write waits when the queue is full
 * @param databasePatience how long a batch is retried while the database is unavailable
 */
public record JournalConfig(
    int lanes,
    long queueBytesMax,
    long batchBytesMax,
    int batchWritesMax,
    Duration fullPatience,
    Duration databasePatience) {

  public static JournalConfig defaults() {
    return new JournalConfig(
        2,
        MemoryConfig.queueBytesMax(64L << 20),
        MemoryConfig.batchBytesMax(8L << 20),
        2_000,
        Duration.ofSeconds(5),
        Duration.ofSeconds(10));
  }

  public JournalConfig withLanes(int count) {
    return new JournalConfig(
        count, queueBytesMax, batchBytesMax, batchWritesMax, fullPatience, databasePatience);
  }
}
