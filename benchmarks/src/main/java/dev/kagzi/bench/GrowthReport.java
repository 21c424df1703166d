package dev.kagzi.bench;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
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
          Locale.ROOT,
          "%-40s %12s %12s %-12s %6s %10s%n",
          "line",
          "empty",
          "grown",
          "unit",
          "ratio",
          "target");
    }
    out.printf(
        Locale.ROOT,
        "%-40s %,12.3f %,12.3f %-12s %6s %10s  %s%n",
        line.name(),
        line.empty(),
        line.grown(),
        line.unit(),
        line.ratio().isPresent()
            ? String.format(Locale.ROOT, "%.2f", line.ratio().getAsDouble())
            : "-",
        line.target(),
        line.missed());
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
      Map<String, @Nullable Object> figures = new LinkedHashMap<>();
      figures.put("unit", line.unit());
      figures.put("empty", Figures.rounded(line.empty()));
      figures.put("grown", Figures.rounded(line.grown()));
      line.ratio().ifPresent(ratio -> figures.put("ratio", Figures.rounded(ratio)));
      line.grownMax().ifPresent(max -> figures.put("grown_max", max));
      figures.put("met", line.isMet());
      all.put(line.name(), figures);
    }
    out.println(JSON.writeValueAsString(all));
    out.flush();
  }

  /** Prints the lines that exceed their target by more than a factor; returns whether any does. */
  static boolean printAbove(List<GrowthLine> lines, double factor, PrintWriter err) {
    List<GrowthLine> above = lines.stream().filter(line -> line.isAbove(factor)).toList();
    for (GrowthLine line : above) {
      err.printf(
          Locale.ROOT,
          "bench: %s: %.3f (expected: %s, and never above %s times that)%n",
          line.name(),
          line.measured(),
          line.target(),
          factor);
    }
    err.flush();
    return !above.isEmpty();
  }

  /** Draws the ratios of all lines that have one. */
  void draw(List<GrowthLine> lines, Path file) {
    BarChart chart =
        new BarChart(
            String.format(
                Locale.ROOT, "Times slower than on empty tables, with %,d runs", sizes.ended()),
            GrowthLine.RATIO_MAX);
    for (GrowthLine line : lines) {
      line.ratio()
          .ifPresent(
              ratio ->
                  chart.add(
                      line.name(),
                      ratio,
                      String.format(
                          Locale.ROOT,
                          "%.2f (%,.1f, %,.1f %s)",
                          ratio,
                          line.empty(),
                          line.grown(),
                          line.unit())));
    }
    try {
      Files.writeString(file, chart.toSvg());
    } catch (IOException e) {
      throw new BenchException("cannot write " + file + ": " + e.getMessage(), e);
    }
  }
}
