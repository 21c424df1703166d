package dev.kagzi.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Draws horizontal bars as SVG, with a line at a limit. The colours are readable on a light and on
 * a dark background.
 */
final class BarChart {
  private static final int WIDTH = 800;
  private static final int LABELS = 230;
  private static final int VALUES = 190;
  private static final int ROW = 24;
  private static final int BAR = 14;
  private static final int TOP = 46;
  private static final int BOTTOM = 16;
  private static final String GOOD = "#4a8f5c";
  private static final String BAD = "#c2553f";
  private static final String TEXT = "#7a7f87";

  private record Bar(String label, double value, String text) {}

  private final String title;
  private final double limit;
  private final List<Bar> bars = new ArrayList<>();

  /**
   * Creates a chart without bars.
   *
   * @param limit bars beyond it have another colour
   */
  BarChart(String title, double limit) {
    this.title = title;
    this.limit = limit;
  }

  /**
   * Adds a bar.
   *
   * @param text printed to the right of the bar
   */
  void add(String label, double value, String text) {
    bars.add(new Bar(label, value, text));
  }

  String toSvg() {
    double most = Math.max(limit, bars.stream().mapToDouble(Bar::value).max().orElse(limit));
    double scale = (WIDTH - LABELS - VALUES) / most;
    int height = TOP + bars.size() * ROW + BOTTOM;
    StringBuilder svg = new StringBuilder();
    svg.append(
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" font-family="sans-serif" \
        font-size="12" fill="%s" role="img">
        <title>%s</title>
        <text x="8" y="20" font-size="14">%s</text>
        """
            .formatted(WIDTH, height, TEXT, escaped(title), escaped(title)));
    for (int i = 0; i < bars.size(); i++) {
      svg.append(bar(bars.get(i), TOP + i * ROW, scale));
    }
    String x = rounded(LABELS + limit * scale);
    svg.append(
        """
        <line x1="%s" y1="%s" x2="%s" y2="%s" stroke="%s" stroke-dasharray="4 3"/>
        <text x="%s" y="%s" text-anchor="middle">%s</text>
        </svg>
        """
            .formatted(x, TOP - 6, x, height - BOTTOM + 4, TEXT, x, TOP - 10, rounded(limit)));
    return svg.toString();
  }

  private String bar(Bar bar, int y, double scale) {
    int baseline = y + BAR - 3;
    double length = Math.max(1, bar.value * scale);
    return """
        <text x="%s" y="%s" text-anchor="end">%s</text>
        <rect x="%s" y="%s" width="%s" height="%s" fill="%s"/>
        <text x="%s" y="%s">%s</text>
        """
        .formatted(
            LABELS - 8,
            baseline,
            escaped(bar.label),
            LABELS,
            y,
            rounded(length),
            BAR,
            bar.value <= limit ? GOOD : BAD,
            rounded(LABELS + length + 6),
            baseline,
            escaped(bar.text));
  }

  private static String rounded(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
