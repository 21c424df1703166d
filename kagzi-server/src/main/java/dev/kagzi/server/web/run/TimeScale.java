package dev.kagzi.server.web.run;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * Maps times to places in a picture, in percent of its width. Long intervals in which no code was
 * executed are shortened, as far as the steps between them need room; otherwise a sleep of a month
 * would hide steps of some milliseconds.
 */
final class TimeScale {
  private static final double GAP_MIN = 0.1;
  private static final double GAP_SECONDS_MIN = 1;

  // How wide an interval with work should be, in percent: a base width, and an addition for each
  // step.
  private static final double WORK_WIDTH = 2;
  private static final double STEP_WIDTH = 3;

  // How much of the width of the gaps may become room for work.
  private static final double GAP_SHARE_MAX = 0.8;
  private static final double FULL = 100;

  /** A time span. */
  record Span(Instant from, Instant to) {
    Span {
      to = to.isBefore(from) ? from : to;
    }

    double seconds() {
      Duration length = Duration.between(from, to);
      return length.toSeconds() + length.toNanosPart() / 1e9;
    }
  }

  private record Piece(Span time, double x, double width, boolean isGap) {}

  private final List<Piece> pieces = new ArrayList<>();
  private final Span window;
  private final double total;

  /**
   * Creates a scale.
   *
   * @param busy when code was executed, in any order
   */
  TimeScale(Span window, List<Span> busy) {
    this.window = window;
    this.total = window.seconds();
    List<Span> gaps = gaps(window, busy);
    if (gaps.isEmpty()) {
      pieces.add(new Piece(window, 0, FULL, false));
      return;
    }
    List<Span> blocks = between(gaps);
    double gapWidth = gaps.stream().mapToDouble(this::linear).sum();
    double wanted = blocks.stream().mapToDouble(block -> extra(block, busy)).sum();
    double given = Math.min(1, wanted <= 0 ? 0 : gapWidth * GAP_SHARE_MAX / wanted);
    double gapScale = 1 - wanted * given / gapWidth;
    double x = 0;
    for (int i = 0; i < blocks.size(); i++) {
      Span block = blocks.get(i);
      x = add(block, x, linear(block) + extra(block, busy) * given, false);
      if (i < gaps.size()) {
        x = add(gaps.get(i), x, linear(gaps.get(i)) * gapScale, true);
      }
    }
  }

  /** Returns what is before, between and after the gaps; some of it may have no length. */
  private List<Span> between(List<Span> gaps) {
    List<Span> blocks = new ArrayList<>();
    Instant at = window.from();
    for (Span gap : gaps) {
      blocks.add(new Span(at, gap.from()));
      at = gap.to();
    }
    blocks.add(new Span(at, window.to()));
    return blocks;
  }

  private double linear(Span time) {
    return FULL * time.seconds() / total;
  }

  /** Returns how much wider than its share of the time an interval with work should be. */
  private double extra(Span block, List<Span> busy) {
    if (block.seconds() <= 0) {
      return 0;
    }
    long steps =
        busy.stream()
            .filter(span -> !span.to().isBefore(block.from()) && !span.from().isAfter(block.to()))
            .count();
    return Math.max(0, WORK_WIDTH + STEP_WIDTH * steps - linear(block));
  }

  private double add(Span time, double x, double width, boolean isGap) {
    if (width > 0) {
      pieces.add(new Piece(time, x, width, isGap));
    }
    return x + width;
  }

  /** Returns the intervals without work that are long enough to be shortened. */
  private static List<Span> gaps(Span window, List<Span> busy) {
    double gapMin = Math.max(window.seconds() * GAP_MIN, GAP_SECONDS_MIN);
    List<Span> gaps = new ArrayList<>();
    Instant at = window.from();
    for (Span span : busy.stream().sorted(Comparator.comparing(Span::from)).toList()) {
      add(gaps, new Span(at, span.from()), gapMin);
      at = span.to().isAfter(at) ? span.to() : at;
    }
    add(gaps, new Span(at, window.to()), gapMin);
    return gaps;
  }

  private static void add(List<Span> gaps, Span gap, double secondsMin) {
    if (gap.seconds() > secondsMin) {
      gaps.add(gap);
    }
  }

  Span window() {
    return window;
  }

  /** Returns the intervals that are drawn shorter than they were. */
  List<Span> shortened() {
    return pieces.stream()
        .filter(Piece::isGap)
        .filter(gap -> gap.width < linear(gap.time) - 0.01)
        .map(Piece::time)
        .toList();
  }

  /** Returns the place of a time: 0 to 100. Times outside the window are at its ends. */
  double at(Instant time) {
    for (Piece piece : pieces) {
      if (!time.isAfter(piece.time.to())) {
        double seconds = new Span(piece.time.from(), time).seconds();
        double length = piece.time.seconds();
        return piece.x + (length <= 0 ? 0 : piece.width * seconds / length);
      }
    }
    return FULL;
  }

  /** Returns the time at a place. */
  Instant timeAt(double x) {
    for (Piece piece : pieces) {
      if (x <= piece.x + piece.width) {
        double share = piece.width <= 0 ? 0 : Math.max(0, x - piece.x) / piece.width;
        return piece.time.from().plusMillis(Math.round(piece.time.seconds() * 1_000 * share));
      }
    }
    return window.to();
  }

  static String percent(double x) {
    return String.format(Locale.ROOT, "%.2f%%", x);
  }
}
