package dev.kagzi.engine.dispatch;

import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.dispatch.Dispatcher;
import dev.kagzi.engine.internal.dispatch.WorkerLimits;
import dev.kagzi.engine.internal.run.UpdateRuns;
import dev.kagzi.engine.internal.step.ReadSteps;
import dev.kagzi.engine.namespace.Namespaces;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RecordedStep;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.WorkerId;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Polls and histories for workers. Thread-safe. */
public final class Tasks {
  private static final int PAGE_BYTES_MAX = 1 << 20;
  private static final int TYPES_MAX = 1_000;
  private static final long CLEAN_UP_MS_MAX = TimeUnit.DAYS.toMillis(365);

  // The expression on the namespace keeps the planner from using any index but the primary key.
  private static final String CLAIM_SQL =
      """
      SELECT attempts, acknowledged_epoch IS NOT DISTINCT FROM epoch AS acknowledged
        FROM kagzi.workflow_runs
       WHERE run_id = ? AND namespace || '' = ? AND epoch = ? AND status = 'RUNNING'
      """;

  private final Database database;
  private final Dispatcher dispatcher;
  private final Namespaces namespaces;
  private final Presence presence;
  private final Limits limits;

  @FunctionalInterface
  public interface Presence {
    /**
     * Returns the limits that the worker registered with. Fails with a {@link Refusal} if the
     * worker is unknown, drains, is offline, or registered for another queue. Completes at once if
     * the worker is in the cache.
     *
     * @param simple the worker polls as simple clients do, which is stored before it gets a task
     */
    CompletableFuture<WorkerLimits> require(WorkerId worker, QueueName queue, boolean simple);
  }

  public Tasks(
      Database database,
      Dispatcher dispatcher,
      Namespaces namespaces,
      Presence presence,
      Limits limits) {
    this.database = database;
    this.dispatcher = dispatcher;
    this.namespaces = namespaces;
    this.presence = presence;
    this.limits = limits;
  }

  /**
   * Starts to wait for tasks; does not block. Throws a {@link Refusal} for an invalid request. If
   * the worker is refused, the future of the poll fails.
   */
  public Poll poll(PollRequest request) {
    if (request.types().isEmpty()) {
      throw Refusal.invalid("workflow_types", "none", "at least one");
    }
    if (request.tasksMax() < 1) {
      throw Refusal.invalid("max_tasks", request.tasksMax(), "at least 1");
    }
    return start(request);
  }

  /**
   * Like {@link #poll}, for one task of any version, within the limits that the worker registered
   * with.
   *
   * @param waitMs how long at most; 0: the longest wait time of a poll
   */
  public Poll pollOne(QueueName queue, WorkerId worker, List<String> types, long waitMs) {
    List<PollRequest.Wanted> wanted = new ArrayList<>();
    for (String type : types) {
      wanted.add(new PollRequest.Wanted(type, PollRequest.ANY_VERSION, 0));
    }
    if (wanted.isEmpty()) {
      throw Refusal.invalid("workflow_types", "none", "at least one");
    }
    return start(new PollRequest(queue, worker, wanted, 1, waitMs, true));
  }

  private Poll start(PollRequest asked) {
    check(asked);
    if (namespaces.isCached(asked.queue().namespace())) {
      return startNow(asked);
    }
    // The namespace must be read from the database, and the caller may be a Netty event loop.
    return late(
        CompletableFuture.supplyAsync(
            () -> startNow(asked), Thread.ofVirtual().name("kagzi-poll")::start));
  }

  private Poll startNow(PollRequest asked) {
    // A poll of a disabled namespace waits, too: it gets tasks once the namespace is enabled.
    namespaces.check(asked.queue().namespace());
    long max = dispatcher.pollMsMax();
    long waitMs = asked.waitMs() <= 0 ? max : Math.min(asked.waitMs(), max);
    PollRequest request = asked.withWaitMs(waitMs);
    CompletableFuture<WorkerLimits> limits =
        presence.require(asked.workerId(), asked.queue(), asked.isSimple());
    if (limits.isDone() && !limits.isCompletedExceptionally()) {
      return startNow(request, limits.join());
    }
    // The worker must be read from the database first.
    return late(limits.thenApply(found -> startNow(request, found)));
  }

  private Poll startNow(PollRequest request, WorkerLimits registered) {
    return dispatcher.poll(request, request.isSimple() ? registered : WorkerLimits.NONE);
  }

  private static Poll late(CompletableFuture<Poll> poll) {
    return new Poll(poll.thenCompose(Poll::tasks), () -> poll.thenAccept(Poll::cancel));
  }

  // One claim round serves all polls of a queue: a name that PostgreSQL rejects would fail the
  // round for other workers, too.
  private void check(PollRequest asked) {
    limits.checkName("namespace", asked.queue().namespace());
    limits.checkName("task_queue", asked.queue().queue());
    if (asked.types().size() > TYPES_MAX) {
      throw Refusal.invalid("types", asked.types().size() + " types", "at most " + TYPES_MAX);
    }
    for (PollRequest.Wanted wanted : asked.types()) {
      limits.checkName("workflow_type", wanted.type());
      limits.checkOptionalName("version", wanted.version());
      if (wanted.cleanUpMs() < 0 || wanted.cleanUpMs() > CLEAN_UP_MS_MAX) {
        throw Refusal.invalid(
            "types.clean_up_ms", wanted.cleanUpMs(), "0 to " + CLEAN_UP_MS_MAX + " (365 days)");
      }
    }
  }

  /**
   * Reads all recorded steps of a claimed run, page by page, in the order of their keys; blocks. It
   * reads a page, and checks the claim, after {@code pages} has accepted the previous one. So at
   * most two pages are in memory, and no connection waits for a slow reader. The first page records
   * that the worker has received the task.
   */
  public void history(String namespace, Claim claim, Consumer<List<RecordedStep>> pages) {
    List<RecordedStep> page = page(namespace, claim, "");
    while (!page.isEmpty()) {
      pages.accept(page);
      page = page(namespace, claim, page.getLast().stepKey());
    }
  }

  private List<RecordedStep> page(String namespace, Claim claim, String after) {
    return database.read(
        session ->
            session.inTransaction(
                tx -> {
                  HeldRun held = requireClaim(tx, namespace, claim);
                  List<RecordedStep> page =
                      ReadSteps.page(tx, claim.runId(), held.attempt, after, PAGE_BYTES_MAX);
                  // Last, because it locks the run.
                  if (!held.acknowledged) {
                    UpdateRuns.acknowledgeHandOut(tx, claim);
                  }
                  return page;
                }));
  }

  private record HeldRun(int attempt, boolean acknowledged) {}

  /** Throws a {@link Refusal} if the claim is not held. */
  private static HeldRun requireClaim(Session session, String namespace, Claim claim)
      throws SQLException {
    RunId run = claim.runId();
    return session
        .query(CLAIM_SQL)
        .bind(run.value())
        .bind(namespace)
        .bind(claim.epoch())
        .first(row -> new HeldRun(row.integer("attempts"), row.bool("acknowledged")))
        .orElseThrow(
            () ->
                Refusal.of(
                    Refusal.Code.CLAIM_LOST,
                    "run",
                    run.toString(),
                    "run " + run + ": claim lost (epoch " + claim.epoch() + ")"));
  }
}
