package dev.kagzi.bench;

import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** Prints figures as JSON or as a table, each as soon as it is measured. */
final class Report {
  private static final JsonMapper JSON = new JsonMapper();
  private static final List<String> COMPARED =
      List.of(Figures.RUNS_PER_S, Figures.STEPS_PER_S, Figures.P50_MS);
  private static final String HEAD_FORMAT = "%-8s %-9s %9s %9s";
  private static final String[][] COLUMNS = {
    {Figures.RUNS_PER_S, "runs/s", "%,10.0f"},
    {Figures.STEPS_PER_S, "steps/s", "%,10.0f"},
    {Figures.P50_MS, "p50 ms", "%10.2f"},
    {Figures.P90_MS, "p90 ms", "%10.2f"},
    {Figures.P95_MS, "p95 ms", "%10.2f"},
    {Figures.P99_MS, "p99 ms", "%10.2f"},
    {Figures.COMMITS_PER_RUN, "commits", "%9.3f"},
    {Figures.STATEMENTS_PER_RUN, "statements", "%11.3f"},
    {Figures.RPCS_PER_RUN, "rpcs", "%9.3f"},
    {Figures.CLIENT_CPU, "client", "%8.2f"},
    {Figures.SERVER_CPU, "server", "%8.2f"},
    {Figures.POSTGRES_CPU, "postgres", "%9.2f"},
  };

  private final PrintWriter out;
  private final boolean json;
  private boolean headed;

  Report(PrintWriter out, boolean json) {
    this.out = out;
    this.json = json;
  }

  /** Prints the figures of one system. */
  void print(Figures figures) {
    if (json) {
      out.println(JSON.writeValueAsString(figures.toMap()));
    } else {
      printHead();
      printRow(figures);
    }
    out.flush();
  }

  /** Prints other figures: one JSON object, or a line for each. */
  void print(Map<String, @Nullable Object> figures) {
    if (json) {
      out.println(JSON.writeValueAsString(figures));
    } else {
      figures.forEach((name, value) -> out.printf(Locale.ROOT, "%-24s %s%n", name, value));
    }
    out.flush();
  }

  /** Prints latencies and their targets: one JSON object, or a line for each. */
  void print(List<Latency> latencies) {
    if (json) {
      Map<String, @Nullable Object> all = new LinkedHashMap<>();
      all.put("scenario", Scenario.LATENCIES.name());
      latencies.forEach(
          each ->
              all.put(
                  each.name(),
                  Map.of(
                      "unit", each.unit(),
                      "p50", rounded(each.p50()),
                      "p99", rounded(each.p99()),
                      "target", each.target(),
                      "met", each.isMet())));
      out.println(JSON.writeValueAsString(all));
    } else {
      out.printf(Locale.ROOT, "%-32s %11s %11s %10s  %s%n", "latency", "p50", "p99", "target", "");
      for (Latency each : latencies) {
        out.printf(
            Locale.ROOT,
            "%-32s %8.2f %-2s %8.2f %-2s   < %3.0f %-2s  %s%n",
            each.name(),
            each.p50(),
            each.unit(),
            each.p99(),
            each.unit(),
            each.target(),
            each.unit(),
            each.isMet() ? "met" : "MISSED");
      }
    }
    out.flush();
  }

  private static double rounded(double value) {
    return Objects.requireNonNull(Figures.rounded(value));
  }

  /**
   * Prints two systems, and the values of the first divided by those of the second.
   *
   * @param target the largest accepted ratio of the median latencies, if there is one
   */
  void print(Figures ours, Figures its, OptionalDouble target) {
    Double p50 = ours.ratio(its, Figures.P50_MS);
    boolean met = p50 != null && p50 <= target.orElse(0);
    if (json) {
      Map<String, @Nullable Object> both = ours.toMap();
      both.put(its.system(), its.toMap());
      both.put("ratios", ratios(ours, its));
      target.ifPresent(max -> both.put("target", Map.of("p50_ratio_max", max, "met", met)));
      out.println(JSON.writeValueAsString(both));
    } else {
      printHead();
      printRow(ours);
      printRow(its);
      out.printf(Locale.ROOT, HEAD_FORMAT, ours.scenario(), "ratio", "", "");
      for (String name : COMPARED) {
        Double ratio = ours.ratio(its, name);
        out.print(ratio == null ? " %10s".formatted("-") : formatted(" %9.2fx", ratio));
      }
      target.ifPresent(
          max ->
              out.printf(
                  Locale.ROOT,
                  "  target: p50 at most %.1fx of %s: %s",
                  max,
                  its.system(),
                  met ? "met" : "MISSED"));
      out.println();
      printSpans(ours);
    }
    out.flush();
  }

  private void printSpans(Figures figures) {
    Double perRun = figures.values().get(Figures.SPANS_PER_RUN);
    if (perRun != null) {
      Double arrived = figures.values().get(Figures.SPANS_ARRIVED_RATIO);
      out.printf(
          Locale.ROOT,
          "%-8s %-9s %.2f of client and worker per run, %s arrived at the collector%n",
          figures.scenario(),
          "spans",
          perRun,
          arrived == null ? "none" : formatted("%.0f %%", arrived * 100));
    }
  }

  private static Map<String, @Nullable Double> ratios(Figures ours, Figures its) {
    Map<String, @Nullable Double> ratios = new LinkedHashMap<>();
    COMPARED.forEach(name -> ratios.put(name, Figures.rounded(ours.ratio(its, name))));
    return ratios;
  }

  /** Commits, statements and requests are per run; processor times are in cores. */
  private void printHead() {
    if (headed) {
      return;
    }
    headed = true;
    out.printf(Locale.ROOT, HEAD_FORMAT, "scenario", "system", "runs", "in flight");
    for (String[] column : COLUMNS) {
      out.print(blank(column, column[1]));
    }
    out.println();
  }

  private void printRow(Figures figures) {
    out.printf(
        Locale.ROOT,
        HEAD_FORMAT,
        figures.scenario(),
        figures.system(),
        formatted("%,d", figures.runs()),
        figures.inFlight());
    for (String[] column : COLUMNS) {
      Double value = figures.values().get(column[0]);
      out.print(value == null ? blank(column, "-") : formatted(" " + column[2], value));
    }
    out.println();
  }

  /** A text padded to the width of the column's values. */
  private static String blank(String[] column, String text) {
    int width = Integer.parseInt(column[2].replaceAll("\\D*(\\d+)\\..*", "$1"));
    return " " + " ".repeat(Math.max(0, width - text.length())) + text;
  }

  private static String formatted(String format, Object value) {
    return String.format(Locale.ROOT, format, value);
  }
}
