package dev.kagzi.bench;

import dev.kagzi.engine.EngineMetrics;
import io.micrometer.core.instrument.Counter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What one server has counted since its start. A server process sends it as one line.
 *
 * @param byName in the order of {@link #of}
 */
record ServerCounts(Map<String, Long> byName) {
  static final String STATEMENTS = "statements";

  private static final String WRITES = "writes";
  private static final String BATCHES = "batches";
  private static final String PER_RUN = "_per_run";

  static ServerCounts of(EngineMetrics metrics) {
    Map<String, Long> sessions = metrics.statements().statementsBySession();
    Map<String, Long> counts = new LinkedHashMap<>();
    counts.put("hand_overs", metrics.dispatch().handedOver());
    counts.put("claims", metrics.dispatch().claimed());
    counts.put("claim_rounds", metrics.dispatch().claimRounds());
    counts.put("claim_statements", sessions.getOrDefault("claim", 0L));
    counts.put("missed", metrics.dispatch().fallbackClaimed());
    counts.put("notices", sessions.getOrDefault("notifier", 0L));
    counts.put("messages", counted(metrics, "kagzi.server.messages.received"));
    counts.put("ends_read", counted(metrics, "kagzi.run.ends.read"));
    counts.put("reads", sessions.getOrDefault("read", 0L));
    counts.put(WRITES, metrics.journalWrites());
    counts.put(BATCHES, metrics.journalBatches());
    counts.put(STATEMENTS, metrics.statements().statements());
    counts.put("commits", metrics.statements().commits());
    return new ServerCounts(counts);
  }

  private static long counted(EngineMetrics metrics, String name) {
    Counter counter = metrics.registry().find(name).counter();
    return counter == null ? 0 : (long) counter.count();
  }

  /** The line of a server process. */
  String encode() {
    List<String> pairs = new ArrayList<>();
    byName.forEach((name, count) -> pairs.add(name + "=" + count));
    return String.join(" ", pairs);
  }

  static ServerCounts decode(String line) {
    Map<String, Long> counts = new LinkedHashMap<>();
    for (String pair : line.split(" ")) {
      int equals = pair.indexOf('=');
      counts.put(pair.substring(0, equals), Long.parseLong(pair.substring(equals + 1)));
    }
    return new ServerCounts(counts);
  }

  long statements() {
    return byName.getOrDefault(STATEMENTS, 0L);
  }

  /** What was counted since {@code before}, for each of {@code runs}; and the size of a batch. */
  Map<String, @Nullable Double> perRun(ServerCounts before, double runs) {
    Map<String, @Nullable Double> figures = new LinkedHashMap<>();
    byName.forEach((name, count) -> figures.put(name + PER_RUN, since(before, name) / runs));
    double batches = since(before, BATCHES);
    figures.put("writes_per_batch", batches == 0 ? null : since(before, WRITES) / batches);
    return figures;
  }

  private double since(ServerCounts before, String name) {
    return byName.getOrDefault(name, 0L) - before.byName.getOrDefault(name, 0L);
  }
}
