package dev.kagzi.server.web.overview;

import dev.kagzi.engine.query.Activity;
import dev.kagzi.engine.query.Health;
import dev.kagzi.engine.query.QueueView;
import dev.kagzi.engine.query.RunCount;
import dev.kagzi.engine.query.ServedType;
import dev.kagzi.server.web.page.Links;
import dev.kagzi.server.web.page.Show;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

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
      // A disabled namespace hands out no runs on purpose, so waiting runs are not a problem of its
      // queues.
      if (isDisabled) {
        disabled(activity.queues());
      } else {
        activity.queues().forEach(queue -> queue(queue, activity.served()));
      }
      crashing(activity.crashing());
      blocked(activity);
      activity.types().forEach(this::type);
      activity.disabled().stream()
          .filter(other -> !other.namespace().equals(links.namespace()))
          .forEach(this::disabledNamespace);
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

    private void disabled(List<QueueView> queues) {
      List<QueueView> due = queues.stream().filter(queue -> queue.oldestDueMs() != null).toList();
      if (due.isEmpty()) {
        return;
      }
      long runs = due.stream().mapToLong(queue -> queue.due().runs()).sum();
      boolean isExact = due.stream().allMatch(queue -> queue.due().isExact());
      long ageMs =
          due.stream()
              .map(QueueView::oldestDueMs)
              .filter(Objects::nonNull)
              .mapToLong(ms -> ms)
              .max()
              .orElse(0);
      String text =
          runs == 1 && isExact
              ? "1 run has been due for %s, and continues when the namespace is enabled."
              : Show.count(new RunCount(runs, isExact))
                  + " runs are due, the first of them for %s. They continue when the namespace is enabled.";
      found.add(
          new Attention(
              text.formatted(Show.millis(ageMs)),
              links.to("/namespaces/edit", "name", links.namespace())));
    }

    private void disabledNamespace(Activity.DisabledNamespace other) {
      boolean isOne = other.due().runs() == 1 && other.due().isExact();
      String runs = isOne ? "1 run is" : Show.count(other.due()) + " runs are";
      found.add(
          new Attention(
              "Namespace %s is disabled, and %s due in it, the first for %s. Enable it to let its runs continue."
                  .formatted(other.namespace(), runs, Show.millis(other.oldestDueMs())),
              new Links(other.namespace()).to("/namespaces/edit", "name", other.namespace())));
    }

    private void crashing(List<Activity.Crashing> runs) {
      if (runs.isEmpty()) {
        return;
      }
      Activity.Crashing first = runs.getFirst();
      boolean isExact = runs.size() < Activity.CRASHING_MAX;
      String lost =
          runs.size() == 1
              ? "1 run has lost %d workers in a row."
              : Show.count(new RunCount(runs.size(), isExact))
                  + " runs have lost two or more workers in a row, one of them %d.";
      found.add(
          new Attention(
              lost.formatted(first.crashes())
                  + " Its code may end the process, for example by its memory: read the logs of its"
                  + " workers.",
              links.run(first.runId())));
    }

    private void queue(QueueView queue, List<ServedType> served) {
      Long age = queue.oldestDueMs();
      if (age == null) {
        return;
      }
      if (queue.workersOnline() == 0) {
        add(
            queue,
            "Queue %s has no worker online: %s. %s"
                .formatted(queue.queue(), waiting(queue, age), elsewhere(queue, served)));
      } else if (age >= limits.queueAge().toMillis()) {
        add(
            queue,
            "Queue %s is behind: %s. %s"
                .formatted(queue.queue(), waiting(queue, age), behind(queue, served)));
      }
    }

    /** Returns what to do for a queue without workers. */
    private static String elsewhere(QueueView queue, List<ServedType> served) {
      return queue.dueTypes().stream()
          .flatMap(
              due ->
                  served.stream()
                      .filter(other -> !other.queue().equals(queue.queue()))
                      .filter(other -> other.isOf(due.type(), due.version())))
          .findFirst()
          .map(
              other ->
                  "Workers of queue %s serve type %s: were the runs started on the wrong queue? If not, start a worker for this queue."
                      .formatted(other.queue(), other.type()))
          .orElse("Start a worker for this queue.");
    }

    /** Returns why the workers of a queue do not take its due runs, as far as it is known. */
    private static String behind(QueueView queue, List<ServedType> served) {
      List<QueueView.DueType> unserved =
          served.size() >= ServedType.SERVED_MAX
              ? List.of()
              : queue.dueTypes().stream()
                  .filter(due -> served.stream().noneMatch(each -> isServed(queue, due, each)))
                  .toList();
      if (!unserved.isEmpty()) {
        QueueView.DueType first = unserved.getFirst();
        String version = first.version().isEmpty() ? "" : " in version " + first.version();
        String more =
            unserved.size() == 1
                ? ""
                : ", nor %d other types or versions".formatted(unserved.size() - 1);
        return "No worker of this queue serves type %s%s%s.".formatted(first.type(), version, more);
      }
      return queue.slots() > 0 && queue.slotsFree() == 0
          ? "All slots of its workers are taken (%s): start more workers."
              .formatted(Show.number(queue.slots()))
          : "Its workers serve these runs. Open one of them to see what it waits for.";
    }

    private static boolean isServed(QueueView queue, QueueView.DueType due, ServedType served) {
      return served.queue().equals(queue.queue()) && served.isOf(due.type(), due.version());
    }

    private void add(QueueView queue, String text) {
      found.add(new Attention(text, links.to("/runs", "queue", queue.queue(), "due", "true")));
    }

    /** Returns a text such as "3 runs wait for a worker, the first of them for 2 min". */
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
