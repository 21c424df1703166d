package dev.kagzi.engine.journal;

import dev.kagzi.engine.memory.MemoryConfig;
import java.time.Duration;

/**
 * Bounds of the journal.
 *
 * @param lanes serial writers; two are best on two cores, more do not help
 * @param queueBytesMax what may wait in all lanes together
 * @param batchBytesMax what one transaction may hold
 * @param batchWritesMax how many writes one transaction may hold
 * @param fullPatience how long a caller waits when the queue is full
 * @param databasePatience how long a batch waits for a database that is away
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
}
