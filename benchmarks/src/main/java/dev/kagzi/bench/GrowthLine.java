package dev.kagzi.bench;

import java.util.Locale;
import java.util.OptionalDouble;

/**
 * One line of {@link GrowthBench}: a figure in the empty case, and the same after growth.
 *
 * @param unit of both figures, such as runs/s or ms
 * @param higherIsBetter whether the figure is a rate and not a time
 * @param grownMax the target of the figure after growth; empty if the target is a ratio of both
 */
record GrowthLine(
    String name,
    String unit,
    boolean higherIsBetter,
    double empty,
    double grown,
    OptionalDouble grownMax) {
  static final double RATIO_MAX = 1.3;

  static GrowthLine rate(String name, double empty, double grown) {
    return new GrowthLine(name, "runs/s", true, empty, grown, OptionalDouble.empty());
  }

  static GrowthLine time(String name, double emptyMs, double grownMs) {
    return new GrowthLine(name, "ms", false, emptyMs, grownMs, OptionalDouble.empty());
  }

  /** A cost that must stay below a limit; it may be zero in the empty case. */
  static GrowthLine cost(String name, String unit, double empty, double grown, double max) {
    return new GrowthLine(name, unit, false, empty, grown, OptionalDouble.of(max));
  }

  /** How many times slower it is than in the empty case; empty for a cost. */
  OptionalDouble ratio() {
    if (grownMax.isPresent()) {
      return OptionalDouble.empty();
    }
    return OptionalDouble.of(higherIsBetter ? empty / grown : grown / empty);
  }

  /** What the target is for: the ratio, or the cost after growth. */
  double measured() {
    return ratio().orElse(grown);
  }

  boolean isMet() {
    return grownMax.isPresent() ? grown < grownMax.getAsDouble() : measured() <= RATIO_MAX;
  }

  /** Whether it exceeds its target by more than a factor. */
  boolean isAbove(double factor) {
    return !(measured() <= factor * grownMax.orElse(RATIO_MAX));
  }

  /** The highest ratio, or the limit of a cost. */
  String target() {
    return grownMax.isPresent()
        ? String.format(Locale.ROOT, "< %s", grownMax.getAsDouble())
        : String.format(Locale.ROOT, "<= %s", RATIO_MAX);
  }

  /** The target that was missed, in words; empty if it was met. */
  String missed() {
    if (isMet()) {
      return "";
    }
    return String.format(
        Locale.ROOT, "above %s", grownMax.isPresent() ? grownMax.getAsDouble() : RATIO_MAX);
  }
}
