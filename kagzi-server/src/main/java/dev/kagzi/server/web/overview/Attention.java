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
 * @param text what is wrong, and what to do
 * @param href where to look; empty for nowhere
 */
public record Attention(String text, String href) {
  private static final int WORKERS_MAX = 5;

  /** Finds what needs attention in a namespace. */
  static final class Finder {
    private final AttentionLimits limits;
    private final Links links;
    private final boolean isDisabled;
    private final List<Attention> found = new ArrayList<>();

    Finder(AttentionLimits limits, Links links, boolean isDisabled) {
      this.limits = limits;
      this.links = links;
      this.isDisabled = isDisabled;
    }

    /** Returns everything that needs attention, the most urgent first. */
    List<Attention> find(Activity activity, Health health) {
      database(health);
      // A disabled namespace hands out no runs on purpose, so its queues are not to blame.
      if (!isDisabled) {
        activity.queues().forEach(this::queue);
      }
      blocked(activity);
      activity.types().forEach(this::type);
      health.workers().stream()
          .filter(worker -> worker.level() != Health.Level.HEALTHY)
          .limit(WORKERS_MAX)
          .forEach(this::worker);
      return found;
    }

    private void database(Health health) {
      if (!health.message().isEmpty()) {
        found.add(new Attention("The database does not answer: " + health.message(), ""));
      } else if (health.latencyMs() >= limits.databaseLatency().toMillis()) {
        found.add(
            new Attention(
                "The database is slow: it took " + Show.millis(health.latencyMs()) + " to answer.",
                ""));
      }
    }

    private void queue(QueueView queue) {
      Long age = queue.oldestDueMs();
      if (age == null) {
        return;
      }
      if (queue.workersOnline() == 0) {
        add(
            queue,
            "Queue %s has no worker online: %s. Start a worker for this queue."
                .formatted(queue.queue(), waiting(queue, age)));
      } else if (age >= limits.queueAge().toMillis()) {
        add(
            queue,
            "Queue %s is behind: %s. Its workers are busy, or do not serve these runs. Open one of them to see what it waits for."
                .formatted(queue.queue(), waiting(queue, age)));
      }
    }

    private void add(QueueView queue, String text) {
      found.add(new Attention(text, links.to("/runs", "queue", queue.queue(), "due", "true")));
    }

    /** Returns such as "3 runs wait for a worker, the first for 2 min". */
    private static String waiting(QueueView queue, long ageMs) {
      boolean isOne = queue.due().runs() == 1 && queue.due().isExact();
      return isOne
          ? "1 run has waited for a worker for " + Show.millis(ageMs)
          : "%s runs wait for a worker, the first of them for %s"
              .formatted(Show.count(queue.due()), Show.millis(ageMs));
    }

    private void blocked(Activity activity) {
      long runs = activity.blocked().runs();
      if (runs > 0) {
        found.add(
            new Attention(
                runs == 1
                    ? "1 run is blocked: the code of its workers cannot continue it."
                    : Show.count(activity.blocked())
                        + " runs are blocked: the code of their workers cannot continue them.",
                links.to("/runs", "blocked", "true")));
      }
    }

    private void type(Activity.TypeRate type) {
      if (type.failed() >= limits.failuresMin()
          && type.failedPercent() >= limits.failurePercent()) {
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

    private void worker(Health.Worker worker) {
      found.add(
          new Attention(
              "Worker %s of queue %s has sent no heartbeat for %s."
                  .formatted(
                      Show.shortId(worker.id()),
                      worker.taskQueue(),
                      Show.millis(worker.silentMs())),
              links.to("/workers/" + worker.id())));
    }
  }
}
