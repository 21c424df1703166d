package dev.kagzi.engine.query;

import dev.kagzi.engine.internal.value.CountText;
import dev.kagzi.engine.query.WaitCause.Code;
import dev.kagzi.engine.query.WaitCause.Ref;
import dev.kagzi.engine.query.WaitFacts.Held;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Why a run that is due is not on a worker yet. */
final class DispatchCauses {
  private static final String ANY_VERSION = "*";
  private static final Held NOTHING = new Held(0, 0, Instant.EPOCH);

  /** A worker with a free slot receives a due run within this time. */
  private static final Duration SOON = Duration.ofSeconds(5);

  private final WaitFacts facts;
  private final WaitFacts.Run run;
  private final WaitFacts.Queue queue;
  private final QueryRules rules;
  private final WaitText text;

  DispatchCauses(WaitFacts facts, WaitFacts.Queue queue, QueryRules rules) {
    this.facts = facts;
    this.run = facts.run();
    this.queue = queue;
    this.rules = rules;
    this.text = new WaitText(facts.now(), facts.run().namespace());
  }

  List<WaitCause> all() {
    List<WaitCause> causes = new ArrayList<>();
    causes.add(first());
    if (queue.ahead() > 0) {
      causes.add(position());
    }
    return causes;
  }

  private WaitCause first() {
    List<WorkerView> online = with(WorkerStatus.ONLINE, worker -> true);
    List<WorkerView> serving = with(WorkerStatus.ONLINE, this::isServing);
    if (serving.isEmpty() && !with(WorkerStatus.DRAINING, this::isServing).isEmpty()) {
      return draining();
    }
    if (online.isEmpty()) {
      return noWorker();
    }
    if (serving.isEmpty()) {
      return online.stream().anyMatch(this::isOfType) ? noVersion(online) : noType(online);
    }
    List<WorkerView> alive = serving.stream().filter(worker -> !isSilent(worker)).toList();
    if (alive.isEmpty()) {
      return silent(serving);
    }
    return alive.stream().allMatch(this::isFull) ? slotsTaken(alive) : due(alive);
  }

  private List<WorkerView> with(WorkerStatus status, Predicate<WorkerView> condition) {
    return queue.workers().stream()
        .filter(worker -> worker.status() == status)
        .filter(condition)
        .toList();
  }

  private Stream<String> versions(WorkerView worker) {
    return worker.served().stream()
        .filter(served -> served.type().equals(run.type()))
        .map(TypeVersion::version);
  }

  private boolean isOfType(WorkerView worker) {
    return versions(worker).findAny().isPresent();
  }

  private boolean isServing(WorkerView worker) {
    return versions(worker)
        .anyMatch(version -> version.equals(ANY_VERSION) || version.equals(run.version()));
  }

  private boolean isSilent(WorkerView worker) {
    return Duration.between(worker.lastHeartbeatAt(), facts.now()).toMillis()
        >= rules.health().lateMs();
  }

  private WaitCause draining() {
    List<WorkerView> workers = with(WorkerStatus.DRAINING, this::isServing);
    return cause(
        Code.WORKERS_DRAINING,
        run.availableAt(),
        "Every worker that serves %s on queue %s drains and receives no new runs. Start another one."
            .formatted(wanted(), run.taskQueue()),
        workers);
  }

  private WaitCause noWorker() {
    return cause(
        Code.NO_WORKER,
        run.availableAt(),
        "No worker is online on queue %s; the run has been due %s. Start one that serves %s%s"
            .formatted(run.taskQueue(), dueSince(), wanted(), elsewhere()),
        List.of());
  }

  private WaitCause noType(List<WorkerView> online) {
    List<String> served =
        online.stream()
            .flatMap(worker -> worker.workflowTypes().stream())
            .distinct()
            .sorted()
            .toList();
    return cause(
        Code.NO_WORKER_FOR_TYPE,
        run.availableAt(),
        "%s online on queue %s, but none serves the type %s; served there: %s. Register it with a worker of this queue, in Java `kagzi.worker(\"%s\").workflow(TYPE, code).start()`%s"
            .formatted(
                are(online.size()),
                run.taskQueue(),
                run.type(),
                WaitText.list(served),
                run.taskQueue(),
                elsewhere()),
        online);
  }

  private WaitCause noVersion(List<WorkerView> online) {
    List<String> served = online.stream().flatMap(this::versions).distinct().toList();
    return cause(
        Code.NO_WORKER_FOR_VERSION,
        run.availableAt(),
        ("No worker online on queue %s serves version '%s' of %s; served there: %s. Start a worker"
                + " with that version, or cancel the run and start it again with %s.")
            .formatted(
                run.taskQueue(),
                run.version(),
                run.type(),
                WaitText.versions(served),
                text.command(
                    "workflow retry " + run.runId() + " --workflow-version " + suggested(served))),
        online.stream().filter(this::isOfType).toList());
  }

  /**
   * Returns the only served version, or the default version if it is served. Otherwise returns a
   * placeholder, because no version is better than the others.
   */
  private String suggested(List<String> served) {
    if (served.size() == 1) {
      return "'" + served.getFirst() + "'";
    }
    String byDefault = queue.defaultVersion();
    return served.contains(byDefault) ? "'" + byDefault + "'" : "VERSION";
  }

  private WaitCause silent(List<WorkerView> workers) {
    Instant latest =
        workers.stream().map(WorkerView::lastHeartbeatAt).max(Instant::compareTo).orElseThrow();
    return cause(
        Code.WORKERS_SILENT,
        latest,
        ("The %s that serve%s %s on queue %s sent the last heartbeat at %s. Without another one"
                + " they are declared offline. Check the processes and their network.")
            .formatted(
                CountText.of(workers.size(), "worker"),
                workers.size() == 1 ? "s" : "",
                wanted(),
                run.taskQueue(),
                text.at(latest)),
        workers);
  }

  private boolean isFull(WorkerView worker) {
    Held held = held(worker);
    Integer all = worker.queueConcurrencyLimit();
    return (all != null && held.runs() >= all) || isFullOfType(worker);
  }

  private boolean isFullOfType(WorkerView worker) {
    Integer ofType = worker.workflowTypeConcurrency().get(run.type());
    return ofType != null && held(worker).ofType() >= ofType;
  }

  private Held held(WorkerView worker) {
    return queue.held().getOrDefault(worker.workerId(), NOTHING);
  }

  /**
   * The number of slots of a full worker: its limit for the type if that limit is reached, else its
   * own limit.
   */
  private int slots(WorkerView worker) {
    Integer ofType = worker.workflowTypeConcurrency().get(run.type());
    return ofType != null && held(worker).ofType() >= ofType
        ? ofType
        : Objects.requireNonNullElse(worker.queueConcurrencyLimit(), 0);
  }

  private WaitCause slotsTaken(List<WorkerView> workers) {
    Instant since =
        workers.stream()
            .map(worker -> held(worker).lastClaimAt())
            .max(Instant::compareTo)
            .orElseThrow();
    int slots = workers.stream().mapToInt(this::slots).sum();
    List<WaitFacts.SlotRun> holding = holding(workers);
    return cause(
        Code.SLOTS_TAKEN,
        since,
        ("%s of the %s that serve%s %s on queue %s %s taken %s.%s The run gets the next free one;"
                + " start more workers or raise maxConcurrent if this is usual.")
            .formatted(
                slots == 1 ? "The only slot" : "All " + slots + " slots",
                workers.size() == 1 ? "worker" : workers.size() + " workers",
                workers.size() == 1 ? "s" : "",
                wanted(),
                run.taskQueue(),
                slots == 1 ? "has been" : "have been",
                text.since(since),
                named(holding) + explained(holding)),
        workers,
        holding.stream().map(one -> Ref.run(one.runId())).toList());
  }

  /**
   * The runs that have held the slots for the longest time; only runs of the type if all workers
   * have reached their limit for it.
   */
  private List<WaitFacts.SlotRun> holding(List<WorkerView> workers) {
    boolean isTypeFull = workers.stream().allMatch(this::isFullOfType);
    return queue.holding().stream()
        .filter(one -> !isTypeFull || one.type().equals(run.type()))
        .limit(SlotQueries.NAMED_MAX)
        .toList();
  }

  private String explained(List<WaitFacts.SlotRun> holding) {
    return holding.isEmpty()
        ? ""
        : " %s shows what the first of them does."
            .formatted(text.command("workflow why " + holding.getFirst().runId()));
  }

  private String named(List<WaitFacts.SlotRun> holding) {
    return holding.isEmpty()
        ? ""
        : " Longest in %s: %s."
            .formatted(
                holding.size() == 1 ? "it" : "them",
                WaitText.list(holding.stream().map(this::named).toList()));
  }

  private String named(WaitFacts.SlotRun holding) {
    String id = holding.externalId().isEmpty() ? "" : " (" + holding.externalId() + ")";
    String doing = holding.step() == null ? "" : " in step " + holding.step();
    return "run %s%s%s %s".formatted(holding.runId(), id, doing, text.since(holding.beganAt()));
  }

  /** No obstacle is known: a worker has a free slot, or has registered without a limit. */
  private WaitCause due(List<WorkerView> workers) {
    List<WorkerView> free = workers.stream().filter(worker -> !isFull(worker)).toList();
    boolean isLimited = free.stream().anyMatch(worker -> worker.queueConcurrencyLimit() != null);
    Instant due = run.availableAt();
    boolean isLate = due != null && due.plus(SOON).isBefore(facts.now());
    String advice =
        isLate
            ? " It has been due " + dueSince() + ": check that these workers poll, and their log."
            : "";
    return cause(
        Code.DUE,
        due,
        (isLimited
                ? "The run is due and about to be handed out: %s with a free slot on queue %s %s %s.%s"
                : "The run is due: %s without a limit on queue %s %s %s and gets it when it polls.%s")
            .formatted(
                CountText.of(free.size(), "worker"),
                run.taskQueue(),
                free.size() == 1 ? "serves" : "serve",
                wanted(),
                advice),
        free);
  }

  private WaitCause position() {
    String ahead = (queue.ahead() >= WaitQueries.AHEAD_MAX ? "At least " : "") + queue.ahead();
    return cause(
        Code.QUEUE_POSITION,
        run.availableAt(),
        "%s of %s on queue %s %s due before it."
            .formatted(
                queue.ahead() == 1 ? "1 other run" : ahead + " other runs",
                WaitText.type(run.type(), run.version()),
                run.taskQueue(),
                queue.ahead() == 1 ? "is" : "are"),
        List.of());
  }

  private String wanted() {
    return run.version().isEmpty()
        ? run.type() + " without a version"
        : WaitText.type(run.type(), run.version());
  }

  private String dueSince() {
    Instant due = run.availableAt();
    return due == null ? "" : text.since(due);
  }

  private String elsewhere() {
    return queue.elsewhere().isEmpty()
        ? "."
        : "; workers of queue %s serve this type: was the run started on the wrong queue?"
            .formatted(String.join(", ", queue.elsewhere()));
  }

  private static String are(int workers) {
    return CountText.of(workers, "worker") + (workers == 1 ? " is" : " are");
  }

  private WaitCause cause(
      Code code, @Nullable Instant at, String sentence, List<WorkerView> workers) {
    return cause(code, at, sentence, workers, List.of());
  }

  private WaitCause cause(
      Code code,
      @Nullable Instant at,
      String sentence,
      List<WorkerView> workers,
      List<Ref> others) {
    List<Ref> refs = new ArrayList<>(List.of(Ref.queue(run.taskQueue())));
    workers.stream()
        .limit(WaitText.NAMED_MAX)
        .forEach(worker -> refs.add(Ref.worker(worker.workerId())));
    refs.addAll(others);
    return new WaitCause(code, sentence, refs, at);
  }
}
