package dev.kagzi.engine.config;

import java.time.Duration;

/**
 * Limits of the journal.
 *
 * @param lanes number of serial writers; on two cores, more than two do not help
 * @param queueBytesMax bytes of queued writes in all lanes together
 * @param fullPatience how long a write waits for space in a full queue before it is refused
 * @param databasePatience how long a batch is sent again, while the database is unavailable, before
 *     it is refused
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
