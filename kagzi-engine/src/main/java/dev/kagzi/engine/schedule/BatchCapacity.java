package dev.kagzi.engine.schedule;

/**
 * How many runs still fit into one transaction. Each has a copy of its schedule's input: a thousand
 * large ones would take longer than a statement may, and again whenever it is tried. One run always
 * fits into an empty one.
 */
final class BatchCapacity {
  static final int RUNS_MAX = 1_000;
  static final long BYTES_MAX = 8 << 20;

  private int runs = RUNS_MAX;
  private long bytes = BYTES_MAX;

  /** How many runs with such an input there is room for. */
  int runs(long inputBytes) {
    long byBytes = inputBytes == 0 ? runs : bytes / inputBytes;
    return (int) Math.min(runs, runs == RUNS_MAX ? Math.max(1, byBytes) : byBytes);
  }

  void take(int taken, long inputBytes) {
    runs -= taken;
    bytes = Math.max(0, bytes - taken * inputBytes);
  }
}
