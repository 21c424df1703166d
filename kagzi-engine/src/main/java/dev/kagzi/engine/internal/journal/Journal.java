package dev.kagzi.engine.internal.journal;

import dev.kagzi.engine.config.JournalConfig;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.metrics.JournalMetrics;
import dev.kagzi.engine.thread.EssentialThreads;
import dev.kagzi.engine.value.Refusal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/** The group commit: passes each write to a lane. Thread-safe; appending a write does not block. */
public final class Journal<W extends Write<?>> implements AutoCloseable {
  private static final long CLOSE_MS_MAX = 5_000;

  private final JournalConfig config;
  private final JournalMetrics metrics;
  private final LaneShare share;
  private final List<Lane<W>> lanes = new ArrayList<>();
  private final AtomicLong overflowBytes = new AtomicLong();
  private final LongAdder batches = new LongAdder();
  private final LongAdder written = new LongAdder();

  /**
   * Starts the lanes.
   *
   * @param servers how many servers commit to the database, this one included
   */
  public Journal(
      Database database,
      Supplier<BatchWriter<W>> writers,
      JournalConfig config,
      IntSupplier servers,
      JournalMetrics metrics,
      EssentialThreads threads) {
    this.config = config;
    this.metrics = metrics;
    this.share = new LaneShare(config.lanes(), servers);
    for (int i = 0; i < config.lanes(); i++) {
      lanes.add(
          new Lane<>(
              i,
              lanes,
              share,
              database,
              writers.get(),
              config,
              metrics,
              batches,
              written,
              threads));
    }
    metrics.bindQueue(this, Journal::waiting, Journal::waitingBytes);
    lanes.forEach(Lane::start);
  }

  public void append(W write) {
    append(lane(write), List.of(write));
  }

  /** Appends several writes; writes with the same key keep their order. */
  public void append(List<W> writes) {
    if (lanes.size() == 1 || writes.size() == 1) {
      append(lane(writes.get(0)), writes);
      return;
    }
    List<List<W>> byLane = new ArrayList<>(lanes.size());
    for (int i = 0; i < lanes.size(); i++) {
      byLane.add(new ArrayList<>());
    }
    for (W write : writes) {
      byLane.get(index(write, lanes)).add(write);
    }
    for (int i = 0; i < lanes.size(); i++) {
      if (!byLane.get(i).isEmpty()) {
        append(lanes.get(i), byLane.get(i));
      }
    }
  }

  private void append(Lane<W> lane, List<W> writes) {
    Lane<W> writer = lane.destination();
    if (writer.isUnavailable() && writer.queue.size() > 0) {
      refuse(writes, Refusal.Reason.UNAVAILABLE, "the database is unavailable; try again");
    } else if (!lane.queue.offer(writes)) {
      appendLater(lane, writes);
    }
  }

  /**
   * Waits on a virtual thread until the full queue has space, at most {@code fullPatience}. Refuses
   * the writes after that, or at once if too many bytes wait already.
   */
  private void appendLater(Lane<W> lane, List<W> writes) {
    long bytes = 0;
    for (W write : writes) {
      bytes += write.bytes();
    }
    long held = bytes;
    if (overflowBytes.addAndGet(held) > config.queueBytesMax()) {
      overflowBytes.addAndGet(-held);
      refuseQueueFull(writes);
      return;
    }
    WriteQueue.Place<W> place = lane.queue.reservePlace();
    Thread.ofVirtual()
        .name("kagzi-journal-full")
        .start(
            () -> {
              try {
                if (!WriteQueue.offer(place, writes, config.fullPatience().toNanos())) {
                  refuseQueueFull(writes);
                }
              } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
                refuseQueueFull(writes);
              } finally {
                overflowBytes.addAndGet(-held);
              }
            });
  }

  private void refuseQueueFull(List<W> writes) {
    refuse(
        writes,
        Refusal.Reason.RESOURCE_EXHAUSTED,
        "the journal is full (limit: "
            + config.queueBytesMax()
            + " bytes waiting for the database); try again later");
  }

  private void refuse(List<W> writes, Refusal.Reason reason, String why) {
    metrics.rejected(reason, writes.size());
    for (W write : writes) {
      write.fail(Refusal.of(reason, "journal", "", why));
    }
  }

  private Lane<W> lane(W write) {
    return lanes.get(index(write, lanes));
  }

  static int index(Write<?> write, List<?> lanes) {
    return Math.floorMod(write.key().hashCode(), lanes.size());
  }

  /** Number of batches. A batch is one commit, unless it was split, sent again or refused. */
  public long batches() {
    return batches.sum();
  }

  public long written() {
    return written.sum();
  }

  public int waiting() {
    int sum = 0;
    for (Lane<W> lane : lanes) {
      sum += lane.queue.size();
    }
    return sum;
  }

  /** Bytes of the writes that wait, also of those that wait for space in a queue. */
  public long waitingBytes() {
    long sum = overflowBytes.get();
    for (Lane<W> lane : lanes) {
      sum += lane.queue.bytes();
    }
    return sum;
  }

  /** Commits the queued writes within a time limit, then refuses the remaining ones. */
  @Override
  public void close() {
    try {
      for (Lane<W> lane : lanes) {
        lane.close(CLOSE_MS_MAX);
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }
}
