package dev.kagzi.cli;

import dev.kagzi.protocol.v1.GetStatsResponse;
import java.util.List;

/** How many runs start, end and fail in a second. */
record Rates(double starts, double ends, double failures) {
  private static final List<String> ENDED =
      List.of("COMPLETED", "FAILED", "CANCELLED", "TIMED_OUT");
  private static final List<String> FAILED = List.of("FAILED", "TIMED_OUT");

  static Rates between(TopCommand.Sample first, TopCommand.Sample second) {
    double seconds = Math.max(1e-3, (second.nanos() - first.nanos()) / 1e9);
    GetStatsResponse before = first.overview().getStats();
    GetStatsResponse now = second.overview().getStats();
    return new Rates(
        rate(before.getTotalWorkflows(), now.getTotalWorkflows(), seconds),
        rate(count(before, ENDED), count(now, ENDED), seconds),
        rate(count(before, FAILED), count(now, FAILED), seconds));
  }

  /** Purged runs can make a count smaller; the rate is then 0, not negative. */
  private static double rate(long before, long now, double seconds) {
    return Math.round(Math.max(0, now - before) / seconds * 10) / 10.0;
  }

  private static long count(GetStatsResponse stats, List<String> statuses) {
    return statuses.stream()
        .mapToLong(status -> stats.getWorkflowsByStatusOrDefault(status, 0))
        .sum();
  }
}
