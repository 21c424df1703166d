package dev.kagzi.bench;

import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** Prints the figures of several servers, with the counts of each that explain them. */
final class ServersReport {
  private static final JsonMapper JSON = new JsonMapper();
  private static final String[][] COLUMNS = {
    {"hand_overs_per_run", "hand-overs"},
    {"claims_per_run", "claims"},
    {"claim_rounds_per_run", "claim rounds"},
    {"notices_per_run", "notices"},
    {"messages_per_run", "messages"},
    {"ends_read_per_run", "ends read"},
    {"writes_per_batch", "batch size"},
    {"statements_per_run", "statements"},
    {"commits_per_run", "commits"},
  };
  private static final int WIDTH = 13;

  private final Report report;
  private final PrintWriter out;
  private final boolean json;

  ServersReport(PrintWriter out, boolean json) {
    this.report = new Report(out, json);
    this.out = out;
    this.json = json;
  }

  /** Prints one measurement; in JSON the hand-over is a field of it. */
  void print(Figures figures, @Nullable Latency handOver) {
    if (json) {
      out.println(JSON.writeValueAsString(toMap(figures, handOver)));
    } else {
      printText(figures, handOver);
    }
    out.flush();
  }

  /** Prints one, two and three servers, and what a run costs with more than one. */
  void print(List<ServersBench.Compared> compared) {
    for (ServersBench.Compared each : compared) {
      boolean isOne = each.figures().servers().size() == 1;
      if (json) {
        Map<String, @Nullable Object> line = toMap(each.figures(), each.handOver());
        if (!isOne) {
          Map<String, @Nullable Object> ratios = new LinkedHashMap<>();
          each.ratios().forEach((name, ratio) -> ratios.put(name, Figures.rounded(ratio)));
          line.put("ratios", ratios);
          line.put("target", Map.of("ratio_max", ServersBench.COST_RATIO_MAX, "met", each.isMet()));
        }
        out.println(JSON.writeValueAsString(line));
      } else {
        printText(each.figures(), each.handOver());
        if (!isOne) {
          printRatios(each);
        }
      }
    }
    out.flush();
  }

  private static Map<String, @Nullable Object> toMap(Figures figures, @Nullable Latency handOver) {
    Map<String, @Nullable Object> all = figures.toMap();
    all.put("server_ms_per_run", Figures.rounded(figures.serverMsPerRun()));
    all.put("postgres_ms_per_run", Figures.rounded(figures.cpuMsPerRun(Figures.POSTGRES_CPU)));
    if (handOver != null) {
      all.put("hand_over_p50_ms", Figures.rounded(handOver.p50()));
      all.put("hand_over_p99_ms", Figures.rounded(handOver.p99()));
    }
    return all;
  }

  private void printText(Figures figures, @Nullable Latency handOver) {
    report.print(figures);
    Double server = figures.serverMsPerRun();
    Double compilers = figures.cpuMsPerRun(Figures.SERVER_JIT_CPU);
    Double postgres = figures.cpuMsPerRun(Figures.POSTGRES_CPU);
    out.println(
        "  processor time per run: servers %s ms, their JIT compilers %s ms, PostgreSQL %s ms"
            .formatted(formatted(server), formatted(compilers), formatted(postgres)));
    out.print("  per run, by server");
    for (String[] column : COLUMNS) {
      out.print(padded(column[1]));
    }
    out.println();
    for (int i = 0; i < figures.servers().size(); i++) {
      out.printf(Locale.ROOT, "  %-18d", i + 1);
      for (String[] column : COLUMNS) {
        out.print(padded(formatted(figures.servers().get(i).get(column[0]))));
      }
      out.println();
    }
    if (handOver != null) {
      out.printf(
          Locale.ROOT,
          "  from a start at one server to the code at another: p50 %.2f ms, p99 %.2f ms"
              + " (target: p50 < %.0f ms: %s)%n",
          handOver.p50(),
          handOver.p99(),
          handOver.target(),
          handOver.isMet() ? "met" : "MISSED");
    }
  }

  private void printRatios(ServersBench.Compared compared) {
    out.print("  beside one server:");
    compared
        .ratios()
        .forEach(
            (name, ratio) ->
                out.printf(
                    Locale.ROOT,
                    " %s %s",
                    name,
                    ratio == null ? "-" : String.format(Locale.ROOT, "%.2fx", ratio)));
    out.printf(
        Locale.ROOT,
        " (target: at most %.1fx: %s)%n",
        ServersBench.COST_RATIO_MAX,
        compared.isMet() ? "met" : "MISSED");
  }

  private static String formatted(@Nullable Double value) {
    return value == null ? "-" : String.format(Locale.ROOT, "%.3f", value);
  }

  private static String padded(String text) {
    return " ".repeat(Math.max(1, WIDTH - text.length())) + text;
  }
}
