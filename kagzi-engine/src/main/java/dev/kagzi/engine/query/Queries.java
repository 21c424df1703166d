package dev.kagzi.engine.query;

import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepRef;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.value.WorkerStatus;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads runs, steps, workers and statistics. Thread-safe; calls block, so call them on virtual
 * threads. A call for one run, step or worker that does not exist in the given namespace is refused
 * with NOT_FOUND.
 */
public final class Queries {
  private static final Pattern END_OF_ID = Pattern.compile("[0-9a-fA-F]{8}");

  private final Database database;
  private final Limits limits;
  private final QueryRules rules;
  private final Runnable onUnknownRun;

  /**
   * @param onUnknownRun called when a caller reads a run that does not exist; perhaps it was
   *     requested and no server has started it yet
   */
  public Queries(Database database, Limits limits, QueryRules rules, Runnable onUnknownRun) {
    this.database = database;
    this.limits = limits;
    this.rules = rules;
    this.onUnknownRun = onUnknownRun;
  }

  /** Returns a run with its whole payloads. */
  public RunView run(String namespace, RunId id) {
    limits.checkName("namespace", namespace);
    return database
        .readForUser(session -> new RunQueries(session).find(namespace, id))
        .orElseThrow(
            () -> {
              onUnknownRun.run();
              return Refusal.notFound("run", id, namespace);
            });
  }

  /** Like {@link #run}; of a run that has continued as new, returns the last run of its chain. */
  public RunView lastOfChain(String namespace, RunId id) {
    RunView run = run(namespace, id);
    while (run.setup().chain().continuedTo() != null) {
      RunView continued = run;
      run =
          run(
              namespace,
              database
                  .readForUser(session -> new RunQueries(session).lastOfChain(continued))
                  .orElseThrow(() -> Refusal.notFound("run", id)));
    }
    return run;
  }

  /** Returns a run. Large payloads have no bytes, as in a list. */
  public RunView runWithoutLargePayloads(String namespace, RunId id) {
    limits.checkName("namespace", namespace);
    return database
        .readForUser(session -> new RunQueries(session).findListed(namespace, id))
        .orElseThrow(() -> Refusal.notFound("run", id));
  }

  /** Returns the runs that were started by a retry of this one, newest first and at most 10. */
  public List<RunId> retries(String namespace, RunId id) {
    limits.checkName("namespace", namespace);
    return database.readForUser(session -> new RunQueries(session).retries(namespace, id));
  }

  /** Returns the latest run with this external id, active or ended. */
  public RunView byExternalId(String namespace, String externalId) {
    limits.checkName("namespace", namespace);
    if (externalId.isEmpty()) {
      throw Refusal.invalid("external_id", "\"\"", "the name that a run was started under");
    }
    limits.checkExternalId("external_id", externalId);
    return database
        .readForUser(
            session -> {
              RunQueries runs = new RunQueries(session);
              RunId id =
                  runs.latest(namespace, externalId)
                      .orElseThrow(() -> notFound(namespace, externalId));
              return runs.find(namespace, id);
            })
        .orElseThrow(() -> notFound(namespace, externalId));
  }

  /**
   * Finds runs in all namespaces, newest first and at most 20.
   *
   * @param text a run id, an external id, or the last eight characters of a run id, which are
   *     searched only among the newest runs of a few namespaces
   * @param namespace the namespace that is searched first
   */
  public List<RunPlace> find(String namespace, String text) {
    limits.checkName("namespace", namespace);
    Optional<RunId> id = RunId.parse(text);
    if (id.isPresent()) {
      return database.readForUser(session -> new RunPlaceQueries(session).byId(id.get()));
    }
    if (text.isEmpty()) {
      return List.of();
    }
    limits.checkExternalId("id", text);
    return database.readForUser(
        session -> {
          RunPlaceQueries places = new RunPlaceQueries(session);
          List<RunPlace> found = places.byExternalId(text);
          return found.isEmpty() && END_OF_ID.matcher(text).matches()
              ? places.byEndOfId(namespace, text.toLowerCase(Locale.ROOT))
              : found;
        });
  }

  private static Refusal notFound(String namespace, String externalId) {
    return Refusal.of(
        Refusal.Code.NOT_FOUND,
        "run with external id",
        Refusal.shorten(externalId),
        "no run with external id %s in namespace %s"
            .formatted(Refusal.shorten(externalId), Refusal.shorten(namespace)));
  }

  /** Lists runs, newest first, without templates of schedules. */
  public Page<RunView> runs(RunFilter filter, PageSpec page) {
    check(filter);
    return database.readForUser(session -> new RunQueries(session).page(filter, page));
  }

  /** Counts the runs that match a filter, without templates of schedules. */
  public RunCount count(RunFilter filter) {
    check(filter);
    return database.readForUser(session -> new RunQueries(session).count(filter));
  }

  /** Returns the ids of the runs that match a filter, newest first and at most {@code max}. */
  public List<RunId> runIds(RunFilter filter, int max) {
    check(filter);
    return database.readForUser(session -> new RunQueries(session).ids(filter, max));
  }

  private void check(RunFilter filter) {
    limits.checkName("namespace", filter.namespace());
    limits.checkOptionalName("workflow_type", filter.type());
    limits.checkOptionalName("task_queue", filter.queue());
    limits.checkOptionalName("version", filter.version());
    limits.checkExternalId("external_id", filter.externalId());
  }

  /**
   * Explains why a run does not continue, or what it is doing. The id may also be that of a
   * schedule. If the database does not answer, the explanation says so.
   */
  public Explanation explain(String namespace, RunId id) {
    limits.checkName("namespace", namespace);
    try {
      return database
          .readForUser(session -> new WaitQueries(session, rules).find(namespace, id))
          .map(facts -> WaitCauses.explain(facts, rules))
          .or(() -> database.readForUser(s -> StartRequestCauses.explain(s, namespace, id)))
          .orElseThrow(() -> Refusal.notFound("run", id, namespace));
    } catch (Refusal refusal) {
      // A statement also fails for other reasons, such as a missing right. Then runs may continue.
      if (refusal.reason() != Refusal.Reason.UNAVAILABLE
          || database.unavailableReason().isEmpty()) {
        throw refusal;
      }
      return Explanation.databaseAway(String.valueOf(refusal.getMessage()));
    }
  }

  /** Lists all attempts of the steps of a run, in the order in which they began. */
  public Page<StepView> steps(
      String namespace, RunId run, @Nullable String stepName, PageSpec page) {
    limits.checkName("namespace", namespace);
    if (stepName != null) {
      limits.checkStepKey("step_name", stepName);
    }
    return database.readForUser(
        session -> new StepQueries(session, namespace).page(run, stepName, page));
  }

  /**
   * Lists the signals of a run in the order of their arrival.
   *
   * @param buffered only those that no step has received
   */
  public Page<SignalView> signals(String namespace, RunId run, boolean buffered, PageSpec page) {
    limits.checkName("namespace", namespace);
    return database.readForUser(
        session -> {
          if (!new StepQueries(session, namespace).isRunThere(run)) {
            throw Refusal.notFound("run", run, namespace);
          }
          return new SignalQueries(session).page(run, buffered, page);
        });
  }

  /**
   * Returns the values that a run's code has published.
   *
   * @param name only this one; empty: all
   * @param after only values with a higher version
   */
  public PublishedView published(String namespace, RunId run, String name, long after) {
    limits.checkName("namespace", namespace);
    limits.checkOptionalName("name", name);
    return database
        .readForUser(session -> new PublishedQueries(session).find(namespace, run, name, after))
        .orElseThrow(() -> Refusal.notFound("run", run));
  }

  /**
   * Returns whether the answer of a callback is a failure; empty if it has none.
   *
   * @param stepKey the step that made the callback
   */
  public Optional<Boolean> callbackFailed(String namespace, RunId run, String stepKey) {
    return Optional.ofNullable(callbackAnswers(namespace, run, Set.of(stepKey), 0).get(stepKey))
        .map(CallbackView::failed);
  }

  /**
   * Returns the answers of callbacks by the keys of the steps that made them; without those that
   * are not answered.
   *
   * @param bytesMax values with more bytes are returned without them
   */
  public Map<String, CallbackView> callbackAnswers(
      String namespace, RunId run, Set<String> stepKeys, int bytesMax) {
    limits.checkName("namespace", namespace);
    if (stepKeys.isEmpty()) {
      return Map.of();
    }
    return database.readForUser(
        session ->
            new StepQueries(session, namespace).isRunThere(run)
                ? new SignalQueries(session).answers(run, stepKeys, bytesMax)
                : Map.<String, CallbackView>of());
  }

  /** Refuses a callback that the run has not made. */
  public void requireCallback(String namespace, RunId run, String stepKey) {
    limits.checkName("namespace", namespace);
    limits.checkStepKey("step_key", stepKey);
    database.readForUser(
        session -> {
          StepView step =
              new StepQueries(session, namespace)
                  .find(new StepRef(run, stepKey, 1, 1))
                  .orElse(null);
          if (step == null || step.kind() != StepKind.CALLBACK) {
            throw Refusal.of(
                Refusal.Code.CALLBACK_NOT_FOUND,
                "callback",
                Refusal.shorten(stepKey),
                "callback: %s of run %s (expected: a callback that the run has made)"
                    .formatted(Refusal.shorten(stepKey), run));
          }
          return step;
        });
  }

  /** Returns one signal of a run with its whole payload. */
  public SignalView signal(String namespace, RunId run, int number) {
    limits.checkName("namespace", namespace);
    return database
        .readForUser(
            session ->
                new StepQueries(session, namespace).isRunThere(run)
                    ? new SignalQueries(session).find(run, number)
                    : Optional.<SignalView>empty())
        .orElseThrow(() -> Refusal.notFound("signal", number));
  }

  /** Returns one attempt of a step with its whole payloads. */
  public StepView step(String namespace, StepRef ref) {
    limits.checkName("namespace", namespace);
    limits.checkStepKey("step_id", ref.stepKey());
    return database
        .readForUser(session -> new StepQueries(session, namespace).find(ref))
        .orElseThrow(() -> Refusal.notFound("step", ref, namespace));
  }

  /** Lists workers, ordered by queue and registration time, including offline ones. */
  public Page<WorkerView> workers(
      String namespace, @Nullable String queue, @Nullable WorkerStatus status, PageSpec page) {
    limits.checkName("namespace", namespace);
    limits.checkOptionalName("task_queue", queue);
    WorkerQueries.Filter filter = new WorkerQueries.Filter(namespace, queue, status);
    return database.readForUser(
        session -> new WorkerQueries(session, rules.leaseMs()).page(filter, page));
  }

  /**
   * Returns one registration of a worker.
   *
   * @param namespace the namespace that the worker must belong to; null for any
   */
  public WorkerView worker(@Nullable String namespace, WorkerId id) {
    limits.checkOptionalName("namespace", namespace);
    return database
        .readForUser(session -> new WorkerQueries(session, rules.leaseMs()).find(id))
        .filter(worker -> namespace == null || worker.namespace().equals(namespace))
        .orElseThrow(() -> Refusal.notFound("worker", id));
  }

  /**
   * Lists the runs that a worker executes now, the longest-held first and at most 20. {@link
   * RunFilter#worker} finds all of them.
   */
  public List<ExecutedRun> executedBy(WorkerView worker) {
    return database.readForUser(
        session -> new SlotQueries(session).executedBy(worker, rules.leaseMs()));
  }

  /** Lists the status changes of a worker with their reasons, latest first. */
  public Page<WorkerEvent> workerEvents(@Nullable String namespace, WorkerId id, PageSpec page) {
    WorkerId known = worker(namespace, id).workerId();
    return database.readForUser(
        session -> new WorkerQueries(session, rules.leaseMs()).events(known, page));
  }

  /**
   * Lists the types and versions that online workers serve, ordered by queue, type and version. The
   * number is limited.
   *
   * @param queue only those of this queue; null for all
   * @param type only versions of this type; null for all
   */
  public List<ServedType> served(String namespace, @Nullable String queue, @Nullable String type) {
    limits.checkName("namespace", namespace);
    limits.checkOptionalName("task_queue", queue);
    limits.checkOptionalName("workflow_type", type);
    return database.readForUser(session -> new ServedQueries(session).read(namespace, queue, type));
  }

  public Stats stats(@Nullable String namespace) {
    limits.checkOptionalName("namespace", namespace);
    return database.readForUser(session -> new StatsQueries(session).stats(namespace));
  }

  /** Returns the number of open runs by status, of one queue or, if it is null, of all queues. */
  public QueueDepth depth(String namespace, @Nullable String queue) {
    limits.checkName("namespace", namespace);
    limits.checkOptionalName("task_queue", queue);
    return database.readForUser(session -> new StatsQueries(session).depth(namespace, queue));
  }

  /** Lists the queues that have open runs or workers, ordered by name. */
  public Page<QueueView> queues(String namespace, PageSpec page) {
    limits.checkName("namespace", namespace);
    return database.readForUser(session -> new QueueQueries(session, namespace).page(page));
  }

  /** Returns one queue; its numbers are 0 if it has neither runs nor workers. */
  public QueueDetails queue(String namespace, String queue) {
    limits.checkName("namespace", namespace);
    limits.checkName("task_queue", queue);
    return database.readForUser(
        session -> {
          QueueQueries queues = new QueueQueries(session, namespace);
          List<QueueRate> rates = new QueueRateQueries(session, namespace).read(List.of(queue));
          return new QueueDetails(
              queues.one(queue),
              rates.isEmpty() ? new QueueRate(queue, 0, 0, 0) : rates.getFirst(),
              queues.openRuns(queue),
              new ServedQueries(session).read(namespace, queue, null));
        });
  }

  /**
   * Returns how many runs of these queues started and ended in the last hour, without queues that
   * had none.
   */
  public List<QueueRate> queueRates(String namespace, List<String> queues) {
    limits.checkName("namespace", namespace);
    return database.readForUser(session -> new QueueRateQueries(session, namespace).read(queues));
  }

  /** Returns what a live display of a namespace shows; reads a limited number of rows. */
  public Overview overview(String namespace) {
    limits.checkName("namespace", namespace);
    return database.readForUser(
        session -> {
          QueueQueries queues = new QueueQueries(session, namespace);
          return new Overview(
              new StatsQueries(session).stats(namespace),
              queues.longest(Overview.QUEUES_MAX),
              new WorkerQueries(session, rules.leaseMs()).busiest(namespace, Overview.WORKERS_MAX),
              queues.slowestTypes());
        });
  }

  /** Returns what happens in a namespace now, what happened in the last hour, and what is next. */
  public Activity activity(String namespace) {
    limits.checkName("namespace", namespace);
    return database.readForUser(session -> new ActivityQueries(session, namespace).read());
  }

  /** Lists the types that have runs, ordered by name. */
  public Page<TypeView> types(String namespace, PageSpec page) {
    limits.checkName("namespace", namespace);
    return database.readForUser(session -> new StatsQueries(session).types(namespace, page));
  }

  /** Returns one type; its numbers are 0 if it has no runs. */
  public TypeView type(String namespace, String type) {
    limits.checkName("namespace", namespace);
    limits.checkName("workflow_type", type);
    return database.readForUser(session -> new StatsQueries(session).type(namespace, type));
  }

  /** Returns the health of the database and of a namespace's workers; null: all namespaces. */
  public Health health(@Nullable String namespace) {
    limits.checkOptionalName("namespace", namespace);
    long began = System.nanoTime();
    try {
      return database.read(
          session -> {
            HealthQueries queries = new HealthQueries(session, rules.health());
            List<Health.Worker> alive = queries.oldestHeartbeats(namespace);
            long latencyMs = sinceMs(began);
            List<Health.Worker> dead = queries.dead(namespace);
            return Health.of(latencyMs, dead, alive, queries.levels(namespace));
          });
    } catch (Refusal unavailable) {
      if (unavailable.reason() != Refusal.Reason.UNAVAILABLE) {
        throw unavailable;
      }
      return Health.unavailable(String.valueOf(unavailable.getMessage()), sinceMs(began));
    }
  }

  private static long sinceMs(long beganNanos) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beganNanos);
  }
}
