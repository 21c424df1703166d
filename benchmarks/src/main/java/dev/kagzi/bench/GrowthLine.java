package dev.kagzi.bench;

/**
 * One line of {@link GrowthBench}: a figure in the empty case, and the same after growth.
 *
 * @param unit of both figures, such as runs/s or ms
 * @param higherIsBetter whether the figure is a rate and not a time
 */
record GrowthLine(String name, String unit, boolean higherIsBetter, double empty, double grown) {
  static final double RATIO_MAX = 1.3;

  static GrowthLine rate(String name, double empty, double grown) {
    return new GrowthLine(name, "runs/s", true, empty, grown);
  }

  static GrowthLine time(String name, double emptyMs, double grownMs) {
    return new GrowthLine(name, "ms", false, emptyMs, grownMs);
  }

  /** How many times slower it is than in the empty case. */
  double ratio() {
    return higherIsBetter ? empty / grown : grown / empty;
  }

  boolean isMet() {
    return ratio() <= RATIO_MAX;
  }
}
