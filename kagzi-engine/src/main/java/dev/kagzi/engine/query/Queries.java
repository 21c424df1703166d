package dev.kagzi.engine.query;

import dev.kagzi.engine.db.Database;
import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.step.StepRef;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.value.WorkerStatus;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Answers who asks about runs, steps and workers. Thread-safe; calls block, so that they belong on
 * virtual threads. What is not there, or not in the namespace named, is refused with NOT_FOUND.
 */
public final class Queries {
  private final Database database;
  private final Limits limits;
  private final Health.Rules rules;
  private final long leaseMs;

  /**
   * Reads with these rules.
   *
   * @param leaseMs how long a claim lasts at most, unless its run says otherwise
   */
  public Queries(Database database, Limits limits, Health.Rules rules, long leaseMs) {
    this.database = database;
    this.limits = limits;
    this.rules = rules;
    this.leaseMs = leaseMs;
  }

  /** One run with all its bytes. */
  public RunView run(String namespace, RunId id) {
    limits.checkName("namespace", namespace);
    return database
        .answer(session -> new RunQueries(session).find(namespace, id))
        .orElseThrow(() -> Refusal.notFound("run", id));
  }

  /** The latest run that was started under this name, whether it is active or has ended. */
  public RunView byExternalId(String namespace, String externalId) {
    limits.checkName("namespace", namespace);
    if (externalId.isEmpty()) {
      throw Refusal.invalid("external_id", "\"\"", "the name that a run was started under");
    }
    limits.checkExternalId("external_id", externalId);
    return database
        .answer(
            session -> {
              RunQueries runs = new RunQueries(session);
              RunId id =
                  runs.latest(namespace, externalId)
                      .orElseThrow(() -> Refusal.notFound("run with external id", externalId));
              return runs.find(namespace, id);
            })
        .orElseThrow(() -> Refusal.notFound("run with external id", externalId));
  }

  /** Runs, the newest first. Templates of schedules are none. */
  public Page<RunView> runs(RunFilter filter, PageSpec page) {
    limits.checkName("namespace", filter.namespace());
    limits.checkOptionalName("workflow_type", filter.type());
    limits.checkOptionalName("task_queue", filter.queue());
    limits.checkOptionalName("version", filter.version());
    limits.checkExternalId("external_id", filter.externalId());
    return database.answer(session -> new RunQueries(session).page(filter, page));
  }

  /** All attempts of the steps of a run, in the order in which they were recorded. */
  public Page<StepView> steps(
      String namespace, RunId run, @Nullable String stepName, PageSpec page) {
    limits.checkName("namespace", namespace);
    if (stepName != null) {
      limits.checkStepKey("step_name", stepName);
    }
    return database.answer(
        session -> new StepQueries(session, namespace).page(run, stepName, page));
  }

  /** One attempt of a step with all its bytes. */
  public StepView step(String namespace, StepRef ref) {
    limits.checkName("namespace", namespace);
    limits.checkStepKey("step_id", ref.stepKey());
    return database
        .answer(session -> new StepQueries(session, namespace).find(ref))
        .orElseThrow(() -> Refusal.notFound("step", ref));
  }

  /** Workers, by queue and then in the order in which they came; the gone ones too. */
  public Page<WorkerView> workers(
      String namespace, @Nullable String queue, @Nullable WorkerStatus status, PageSpec page) {
    limits.checkName("namespace", namespace);
    limits.checkOptionalName("task_queue", queue);
    WorkerQueries.Filter filter = new WorkerQueries.Filter(namespace, queue, status);
    return database.answer(session -> new WorkerQueries(session, leaseMs).page(filter, page));
  }

  /** One registration of a worker; of any namespace when none is named. */
  public WorkerView worker(@Nullable String namespace, WorkerId id) {
    limits.checkOptionalName("namespace", namespace);
    return database
        .answer(session -> new WorkerQueries(session, leaseMs).find(id))
        .filter(worker -> namespace == null || worker.namespace().equals(namespace))
        .orElseThrow(() -> Refusal.notFound("worker", id));
  }

  /** What became of a worker and why, the latest first. */
  public Page<WorkerEvent> workerEvents(@Nullable String namespace, WorkerId id, PageSpec page) {
    WorkerId known = worker(namespace, id).workerId();
    return database.answer(session -> new WorkerQueries(session, leaseMs).events(known, page));
  }

  /** The numbers of a namespace; null for all of them. */
  public Stats stats(@Nullable String namespace) {
    limits.checkOptionalName("namespace", namespace);
    return database.answer(session -> new StatsQueries(session).stats(namespace));
  }

  /** How much there is to do; in all queues of the namespace when none is named. */
  public QueueDepth depth(String namespace, @Nullable String queue) {
    limits.checkName("namespace", namespace);
    limits.checkOptionalName("task_queue", queue);
    return database.answer(session -> new StatsQueries(session).depth(namespace, queue));
  }

  /** The types of which there are runs, by name. */
  public Page<TypeView> types(String namespace, PageSpec page) {
    limits.checkName("namespace", namespace);
    return database.answer(session -> new StatsQueries(session).types(namespace, page));
  }

  /** How the database is, and the workers of a namespace; of all when none is named. */
  public Health health(@Nullable String namespace) {
    limits.checkOptionalName("namespace", namespace);
    long began = System.nanoTime();
    try {
      return database.read(
          session -> {
            HealthQueries queries = new HealthQueries(session, rules);
            List<Health.Worker> silent = queries.mostSilent(namespace);
            long latencyMs = sinceMs(began);
            List<Health.Worker> dead = queries.dead(namespace);
            return Health.of(latencyMs, dead, silent, queries.levels(namespace));
          });
    } catch (Refusal away) {
      if (away.reason() != Refusal.Reason.UNAVAILABLE) {
        throw away;
      }
      return Health.away(String.valueOf(away.getMessage()), sinceMs(began));
    }
  }

  private static long sinceMs(long beganNanos) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beganNanos);
  }
}
