package dev.kagzi.bench;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** Prints the lines of {@link GrowthBench}, and draws them. */
final class GrowthReport {
  private static final JsonMapper JSON = new JsonMapper();

  private final PrintWriter out;
  private final boolean json;
  private final GrowthSizes sizes;
  private boolean headed;

  GrowthReport(PrintWriter out, boolean json, GrowthSizes sizes) {
    this.out = out;
    this.json = json;
    this.sizes = sizes;
  }

  /** Prints a line of the table as soon as it is measured; nothing with JSON. */
  void print(GrowthLine line) {
    if (json) {
      return;
    }
    if (!headed) {
      headed = true;
      out.printf(
          Locale.ROOT, "%-30s %12s %12s %-7s %6s%n", "line", "empty", "grown", "unit", "ratio");
    }
    out.printf(
        Locale.ROOT,
        "%-30s %,12.2f %,12.2f %-7s %6.2f%s%n",
        line.name(),
        line.empty(),
        line.grown(),
        line.unit(),
        line.ratio(),
        line.isMet() ? "" : "  above " + GrowthLine.RATIO_MAX);
    out.flush();
  }

  /** Prints all lines as one JSON object; nothing without JSON. */
  void print(List<GrowthLine> lines) {
    if (!json) {
      return;
    }
    Map<String, @Nullable Object> all = new LinkedHashMap<>();
    all.put("scenario", Scenario.GROWTH.name());
    all.put("ended_runs", sizes.ended());
    all.put("sleeping_runs", sizes.sleeping());
    all.put("pending_runs", sizes.pending());
    all.put("ratio_max", GrowthLine.RATIO_MAX);
    for (GrowthLine line : lines) {
      all.put(
          line.name(),
          Map.of(
              "unit", line.unit(),
              "empty", rounded(line.empty()),
              "grown", rounded(line.grown()),
              "ratio", rounded(line.ratio()),
              "met", line.isMet()));
    }
    out.println(JSON.writeValueAsString(all));
    out.flush();
  }

  private static double rounded(double value) {
    return Objects.requireNonNull(Figures.rounded(value));
  }

  /** Draws the ratios of all lines. */
  void draw(List<GrowthLine> lines, Path file) {
    BarChart chart =
        new BarChart(
            String.format(
                Locale.ROOT, "Times slower than on empty tables, with %,d runs", sizes.ended()),
            GrowthLine.RATIO_MAX);
    for (GrowthLine line : lines) {
      chart.add(
          line.name(),
          line.ratio(),
          String.format(
              Locale.ROOT,
              "%.2f (%,.1f, %,.1f %s)",
              line.ratio(),
              line.empty(),
              line.grown(),
              line.unit()));
    }
    try {
      Files.writeString(file, chart.toSvg());
    } catch (IOException e) {
      throw new BenchException("cannot write " + file + ": " + e.getMessage(), e);
    }
  }
}
