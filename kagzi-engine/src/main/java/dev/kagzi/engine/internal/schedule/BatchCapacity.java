package dev.kagzi.engine.internal.schedule;

/**
 * How many runs still fit into one transaction. Each run has a copy of its schedule's input. To
 * insert a thousand large inputs would take longer than the socket timeout, at every retry. One run
 * always fits into an empty transaction.
 */
public final class BatchCapacity {
  static final int RUNS_MAX = 1_000;
  static final long BYTES_MAX = 8 << 20;

  private int runs = RUNS_MAX;
  private long bytes = BYTES_MAX;

  public int runs(long inputBytes) {
    long byBytes = inputBytes == 0 ? runs : bytes / inputBytes;
    return (int) Math.min(runs, runs == RUNS_MAX ? Math.max(1, byBytes) : byBytes);
  }

  void take(int taken, long inputBytes) {
    runs -= taken;
    bytes = Math.max(0, bytes - taken * inputBytes);
  }
}
