package dev.kagzi.server.web.run;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * Maps times to places in a picture, in percent of its width. Long intervals in which no code was
 * executed are shortened; otherwise a sleep of a month would hide steps of some milliseconds.
 */
final class TimeScale {
  private static final double GAP_MIN = 0.1;
  private static final double GAP_SECONDS_MIN = 1;
  private static final double GAP_WIDTH_MAX = 0.15;
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

  /**
   * Creates a scale.
   *
   * @param busy when code was executed, in any order
   */
  TimeScale(Span window, List<Span> busy) {
    this.window = window;
    List<Span> gaps = gaps(window, busy);
    double total = window.seconds();
    double gapSeconds = gaps.stream().mapToDouble(Span::seconds).sum();
    double gapWidths = gaps.stream().mapToDouble(gap -> width(gap, total)).sum();
    boolean isLinear = total - gapSeconds <= 0 || gaps.isEmpty();
    if (isLinear) {
      pieces.add(new Piece(window, 0, FULL, false));
      return;
    }
    double perSecond = (FULL - gapWidths) / (total - gapSeconds);
    double x = 0;
    Instant at = window.from();
    for (Span gap : gaps) {
      x = add(new Span(at, gap.from()), x, perSecond);
      pieces.add(new Piece(gap, x, width(gap, total), true));
      x += width(gap, total);
      at = gap.to();
    }
    add(new Span(at, window.to()), x, perSecond);
  }

  private double add(Span time, double x, double perSecond) {
    double width = time.seconds() * perSecond;
    if (width > 0) {
      pieces.add(new Piece(time, x, width, false));
    }
    return x + width;
  }

  private static double width(Span gap, double total) {
    return FULL * Math.min(gap.seconds() / total, GAP_WIDTH_MAX);
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
        .filter(gap -> gap.width < FULL * gap.time.seconds() / window.seconds() - 0.01)
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
