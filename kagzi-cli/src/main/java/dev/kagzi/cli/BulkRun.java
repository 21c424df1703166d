package dev.kagzi.cli;

import dev.kagzi.protocol.v1.Workflow;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Acts on many runs, several at once, and prints a summary. Ctrl-C ends it after the calls that are
 * under way, with a summary of what was done until then.
 */
final class BulkRun {
  private static final long STOP_SECONDS_MAX = 40;
  private static final int REASONS_SHOWN_MAX = 20;

  private final List<Workflow> runs;
  private final Semaphore places;
  private final Function<Workflow, RunAction.Outcome> action;
  private final CountDownLatch ended = new CountDownLatch(1);
  private final Map<String, Reason> reasons = new TreeMap<>();
  private volatile boolean stopped;
  private int succeeded;
  private int notApplicable;
  private int failed;

  /** A reason why runs were not changed, how often it occurred, and the first run with it. */
  private record Reason(String first, int runs) {
    Reason again() {
      return new Reason(first, runs + 1);
    }
  }

  /** {@code action} may throw {@link CliException}; it is called by several threads. */
  BulkRun(List<Workflow> runs, int concurrency, Function<Workflow, RunAction.Outcome> action) {
    this.runs = runs;
    this.places = new Semaphore(concurrency);
    this.action = action;
  }

  int run(Output output) {
    Thread stop = new Thread(this::stop);
    Runtime.getRuntime().addShutdownHook(stop);
    ProgressBar bar = new ProgressBar(output.err(), Terminal.has(Terminal.Stream.ERR), runs.size());
    try (ExecutorService calls = Executors.newVirtualThreadPerTaskExecutor()) {
      submitAll(calls, bar);
    }
    bar.close();
    print(output);
    ended.countDown();
    removeHook(stop);
    // If a signal stopped the command, this value is not used: the JVM is already ending with the
    // exit code of the signal.
    return failed == 0 ? ExitCode.DONE : ExitCode.PARTIAL;
  }

  private void submitAll(ExecutorService calls, ProgressBar bar) {
    for (Workflow run : runs) {
      places.acquireUninterruptibly();
      if (stopped) {
        places.release();
        return;
      }
      calls.execute(
          () -> {
            try {
              change(run);
              bar.show(done());
            } finally {
              places.release();
            }
          });
    }
  }

  private void change(Workflow run) {
    try {
      RunAction.Outcome outcome = action.apply(run);
      count(run.getRunId(), outcome.done(), outcome.text());
    } catch (CliException e) {
      countFailure(run.getRunId(), String.valueOf(e.getMessage()));
    } catch (RuntimeException bug) {
      // Otherwise the run would be missing in the summary.
      countFailure(run.getRunId(), bug.toString());
    }
  }

  private synchronized void count(String run, boolean changed, String reason) {
    if (changed) {
      succeeded++;
    } else {
      notApplicable++;
      add(run, reason);
    }
  }

  private synchronized void countFailure(String run, String reason) {
    failed++;
    add(run, reason);
  }

  /** Counts reasons as one that differ only by the run id in their text. */
  private void add(String run, String reason) {
    reasons.merge(
        reason.replace(run, "…").replaceAll("run [0-9a-f-]{36}", "run …"),
        new Reason(run, 1),
        (before, one) -> before.again());
  }

  private synchronized int done() {
    return succeeded + notApplicable + failed;
  }

  /** Runs when the JVM ends: waits for the calls under way and for the summary. */
  private void stop() {
    stopped = true;
    try {
      ended.await(STOP_SECONDS_MAX, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void removeHook(Thread stop) {
    try {
      Runtime.getRuntime().removeShutdownHook(stop);
    } catch (IllegalStateException ending) {
      // The JVM ends: the hook has waited for this.
    }
  }

  private synchronized void print(Output output) {
    int remaining = runs.size() - done();
    ObjectNode json = MessageJson.empty();
    json.put("matching", runs.size());
    json.put("succeeded", succeeded);
    json.put("notApplicable", notApplicable);
    json.put("failed", failed);
    json.put("remaining", remaining);
    ArrayNode list = json.putArray("reasons");
    reasons.forEach(
        (text, reason) ->
            list.addObject()
                .put("reason", text)
                .put("runs", reason.runs)
                .put("firstRunId", reason.first));
    output.print(json, () -> text(remaining));
  }

  private String text(int remaining) {
    StringBuilder text = new StringBuilder();
    if (remaining > 0) {
      text.append("stopped after %d of %s\n".formatted(done(), Plural.of(runs.size(), "run")));
    }
    text.append(
        "%d succeeded, %d not applicable, %d failed\n".formatted(succeeded, notApplicable, failed));
    reasons.entrySet().stream()
        .sorted((a, b) -> Integer.compare(b.getValue().runs, a.getValue().runs))
        .limit(REASONS_SHOWN_MAX)
        .forEach(
            entry ->
                text.append(
                    "  %d: %s (first: %s)\n"
                        .formatted(
                            entry.getValue().runs,
                            PlainLine.brief(entry.getKey()),
                            entry.getValue().first)));
    return text.toString();
  }
}
