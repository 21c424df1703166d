package dev.kagzi.server.web.overview;

import dev.kagzi.engine.query.Activity;
import dev.kagzi.engine.query.Health;
import dev.kagzi.engine.query.QueueView;
import dev.kagzi.server.web.page.Links;
import dev.kagzi.server.web.page.Show;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Something that a person should look at.
 *
 * @param text a sentence
 * @param href where to look; empty for nowhere
 */
public record Attention(String text, String href) {
  private static final int WORKERS_MAX = 5;

  /** Returns everything that needs attention, the most urgent first. */
  static List<Attention> find(
      Activity activity, Health health, AttentionLimits limits, Links links) {
    List<Attention> found = new ArrayList<>();
    database(found, health, limits);
    activity.queues().forEach(queue -> queue(found, queue, limits, links));
    blocked(found, activity, links);
    activity.types().forEach(type -> type(found, type, limits, links));
    health.workers().stream()
        .filter(worker -> worker.level() != Health.Level.HEALTHY)
        .limit(WORKERS_MAX)
        .forEach(worker -> worker(found, worker, links));
    return found;
  }

  private static void database(List<Attention> found, Health health, AttentionLimits limits) {
    if (!health.message().isEmpty()) {
      found.add(new Attention("The database does not answer: " + health.message(), ""));
    } else if (health.latencyMs() >= limits.databaseLatency().toMillis()) {
      found.add(
          new Attention(
              "The database is slow: it took " + Show.millis(health.latencyMs()) + " to answer.",
              ""));
    }
  }

  private static void queue(
      List<Attention> found, QueueView queue, AttentionLimits limits, Links links) {
    String href = links.to("/runs", "queue", queue.queue(), "status", "PENDING");
    Long age = queue.oldestDueMs();
    if (age == null) {
      return;
    }
    if (queue.workersOnline() == 0) {
      found.add(
          new Attention(
              "Queue %s has no worker online. Its oldest run waits for %s."
                  .formatted(queue.queue(), Show.millis(age)),
              href));
    } else if (age >= limits.queueAge().toMillis()) {
      found.add(
          new Attention(
              "Queue %s is behind. Its oldest run waits for %s."
                  .formatted(queue.queue(), Show.millis(age)),
              href));
    }
  }

  private static void blocked(List<Attention> found, Activity activity, Links links) {
    long runs = activity.blocked().runs();
    if (runs > 0) {
      String count = Show.number(runs) + (activity.blocked().isExact() ? "" : "+");
      found.add(
          new Attention(
              runs == 1
                  ? "1 run is blocked: the code of its workers cannot continue it."
                  : count + " runs are blocked: the code of their workers cannot continue them.",
              links.to("/runs", "blocked", "true")));
    }
  }

  private static void type(
      List<Attention> found, Activity.TypeRate type, AttentionLimits limits, Links links) {
    if (type.failed() >= limits.failuresMin() && type.failedPercent() >= limits.failurePercent()) {
      found.add(
          new Attention(
              String.format(
                  Locale.ROOT,
                  "Type %s fails: %,d of %,d runs that ended in the last hour (%.0f %%).",
                  type.type(),
                  type.failed(),
                  type.completed() + type.failed(),
                  type.failedPercent()),
              links.to("/runs", "type", type.type(), "status", "FAILED")));
    }
  }

  private static void worker(List<Attention> found, Health.Worker worker, Links links) {
    found.add(
        new Attention(
            "Worker %s of queue %s has sent no heartbeat for %s."
                .formatted(
                    Show.shortId(worker.id()), worker.taskQueue(), Show.millis(worker.silentMs())),
            links.to("/workers/" + worker.id())));
  }
}
