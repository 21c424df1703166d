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
import org.jspecify.annotations.Nullable;

/**
 * Answers who asks about runs, steps and workers. Thread-safe; calls block, so that they belong on
 * virtual threads. What is not there, or not in the namespace named, is refused with NOT_FOUND.
 */
public final class Queries {
  private final Database database;
  private final Limits limits;

  public Queries(Database database, Limits limits) {
    this.database = database;
    this.limits = limits;
  }

  /** One run with all its bytes. */
  public RunView run(String namespace, RunId id) {
    limits.checkName("namespace", namespace);
    return database
        .read(session -> new RunQueries(session).find(namespace, id))
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
        .read(
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
    return database.read(session -> new RunQueries(session).page(filter, page));
  }

  /** All attempts of the steps of a run, in the order in which they were recorded. */
  public Page<StepView> steps(
      String namespace, RunId run, @Nullable String stepName, PageSpec page) {
    limits.checkName("namespace", namespace);
    if (stepName != null) {
      limits.checkStepKey("step_name", stepName);
    }
    return database.read(session -> new StepQueries(session, namespace).page(run, stepName, page));
  }

  /** One attempt of a step with all its bytes. */
  public StepView step(String namespace, StepRef ref) {
    limits.checkName("namespace", namespace);
    limits.checkStepKey("step_id", ref.stepKey());
    return database
        .read(session -> new StepQueries(session, namespace).find(ref))
        .orElseThrow(() -> Refusal.notFound("step", ref));
  }

  /** Workers, by queue and then in the order in which they came; the gone ones too. */
  public Page<WorkerView> workers(
      String namespace, @Nullable String queue, @Nullable WorkerStatus status, PageSpec page) {
    limits.checkName("namespace", namespace);
    limits.checkOptionalName("task_queue", queue);
    WorkerQueries.Filter filter = new WorkerQueries.Filter(namespace, queue, status);
    return database.read(session -> new WorkerQueries(session).page(filter, page));
  }

  /** One registration of a worker. */
  public WorkerView worker(WorkerId id) {
    return database
        .read(session -> new WorkerQueries(session).find(id))
        .orElseThrow(() -> Refusal.notFound("worker", id));
  }
}
