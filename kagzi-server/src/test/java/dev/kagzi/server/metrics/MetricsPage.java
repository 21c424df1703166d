package dev.kagzi.server.metrics;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The tables of docs/metrics.md. */
public final class MetricsPage {
  private static final Path PAGE = Path.of("../docs/metrics.md");
  private static final Pattern ROW =
      Pattern.compile("\\| `(\\w+)` \\| (counter|gauge|histogram|summary) \\| ([^|]+) \\|(.*)\\|");

  private MetricsPage() {}

  /**
   * A metric as documented, or as served.
   *
   * @param isOptional whether the page says that it may be absent
   */
  public record Metric(String name, String type, Set<String> labels, boolean isOptional) {
    @Override
    public String toString() {
      return name + " " + type + " " + labels;
    }
  }

  /** Returns the metrics in the tables under a heading. */
  public static List<Metric> under(String heading) throws IOException {
    List<String> lines = Files.readAllLines(PAGE);
    List<Metric> metrics = new ArrayList<>();
    boolean here = false;
    for (String line : lines) {
      here = line.startsWith("## ") ? line.equals("## " + heading) : here;
      Matcher row = ROW.matcher(line);
      if (here && row.matches()) {
        metrics.add(
            new Metric(
                row.group(1), row.group(2), labels(row.group(3)), row.group(4).contains("absent")));
      }
    }
    return metrics;
  }

  private static Set<String> labels(String cell) {
    return Pattern.compile("`(\\w+)`")
        .matcher(cell)
        .results()
        .map(label -> label.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /**
   * Returns the metrics in a text for Prometheus. The gauge with the longest value of a histogram
   * or summary belongs to it.
   */
  public static List<Metric> in(String text) {
    List<Metric> metrics = new ArrayList<>();
    for (String line : text.lines().filter(each -> each.startsWith("# TYPE ")).toList()) {
      String[] words = line.split(" ", -1);
      metrics.add(new Metric(words[2], words[3], labelsOf(text, words[2]), false));
    }
    Set<String> timed =
        metrics.stream()
            .filter(metric -> Set.of("histogram", "summary").contains(metric.type()))
            .map(metric -> metric.name() + "_max")
            .collect(Collectors.toSet());
    metrics.removeIf(metric -> timed.contains(metric.name()));
    return metrics;
  }

  private static Set<String> labelsOf(String text, String name) {
    Pattern sample =
        Pattern.compile("(?m)^" + name + "(?:_bucket|_sum|_count)?(?:\\{(.*)\\})? \\S+$");
    return sample
        .matcher(text)
        .results()
        .flatMap(found -> found.group(1) == null ? Stream.empty() : names(found.group(1)))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Stream<String> names(String labels) {
    return Pattern.compile("(\\w+)=\"(?:[^\"\\\\]|\\\\.)*\"")
        .matcher(labels)
        .results()
        .map(label -> label.group(1))
        .filter(label -> !label.equals("le"));
  }
}
