package dev.kagzi.engine.internal.dispatch;

import dev.kagzi.engine.config.DispatchConfig;
import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.memory.ByteBudget;
import dev.kagzi.engine.metrics.DispatchMetrics;
import dev.kagzi.engine.thread.EssentialThreads;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.WorkerId;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The claimer threads. Each takes a {@link ClaimRequest}, claims due runs of its {@link TaskQueue}
 * in the database, and adds their tasks to the queue. For a fallback request it only checks whether
 * a run is due. Thread-safe.
 */
final class ClaimLoop implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ClaimLoop.class);

  private final Database database;
  private final Settings settings;
  private final BlockingQueue<ClaimRequest> requests;
  private final ByteBudget taskBytes;
  private final ClaimRegistry registry;
  private final DispatchMetrics metrics;
  private final EffectExecutor effects;
  private final List<Thread> claimers = new ArrayList<>();
  private volatile boolean closed;

  /**
   * The configuration of claim queries.
   *
   * @param readBytesMax how many bytes of inputs, and again of histories, one claim may read
   */
  record Settings(
      DispatchConfig config, ClaimRules rules, DispatchCallbacks callbacks, long readBytesMax) {}

  /**
   * Creates the loop; {@link #start} starts its threads.
   *
   * @param taskBytes how many bytes the tasks that wait for polls may take; nothing is claimed
   *     while it is used up
   */
  ClaimLoop(
      Database database,
      Settings settings,
      BlockingQueue<ClaimRequest> requests,
      ByteBudget taskBytes,
      ClaimRegistry registry,
      DispatchMetrics metrics,
      EffectExecutor effects) {
    this.database = database;
    this.settings = settings;
    this.requests = requests;
    this.taskBytes = taskBytes;
    this.registry = registry;
    this.metrics = metrics;
    this.effects = effects;
  }

  void start(EssentialThreads threads) {
    for (int i = 0; i < settings.config.claimers(); i++) {
      claimers.add(threads.loop("kagzi-claim-" + i, this::loop));
    }
    claimers.forEach(Thread::start);
  }

  private void loop() {
    Session session = null;
    while (!closed) {
      ClaimRequest request = null;
      try {
        request = requests.take();
        if (session == null || !session.isUsable()) {
          session = database.open("claim");
        }
        if (request.isFallback()) {
          checkForMissedRuns(session, request.queues());
        } else {
          claimRound(session, request.queues().getFirst());
        }
      } catch (InterruptedException stopped) {
        break;
      } catch (SQLException e) {
        database.logFailure("claim", e, session);
        if (session != null) {
          session.close();
          session = null;
        }
        endAfterFailure(request);
      } catch (RuntimeException bug) {
        log.atError()
            .setCause(bug)
            .addKeyValue("queue", request == null ? null : request.queues().getFirst().name())
            .log("claiming the runs of a queue failed unexpectedly");
        endAfterFailure(request);
      }
    }
    if (session != null) {
      session.close();
    }
  }

  private void endAfterFailure(@Nullable ClaimRequest request) {
    pause();
    if (request != null && !request.isFallback()) {
      TaskQueue queue = request.queues().getFirst();
      effects.execute(queue, queue.endClaimRound());
    }
  }

  private static void pause() {
    try {
      TimeUnit.MILLISECONDS.sleep(100);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  /** Checks for due runs that no event announced; requests a claim round if there are any. */
  private void checkForMissedRuns(Session session, List<TaskQueue> queues) throws SQLException {
    long begun = System.nanoTime();
    boolean succeeded = false;
    try {
      List<TaskQueue> searched = new ArrayList<>();
      List<NextDue.Search> searches = new ArrayList<>();
      for (TaskQueue queue : queues) {
        NextDue.Search search = missedRuns(session, queue);
        if (!search.types().isEmpty()) {
          searched.add(queue);
          searches.add(search);
        }
      }
      List<NextDue> next = ClaimRuns.nextDue(session, searches);
      for (int i = 0; i < next.size(); i++) {
        checked(searched.get(i), next.get(i));
      }
      succeeded = true;
    } finally {
      long tookNanos = System.nanoTime() - begun;
      for (TaskQueue queue : queues) {
        queue.fallbackEnded(tookNanos, succeeded);
      }
    }
  }

  /** Where the queue may have due runs that no claim query finds. */
  private NextDue.Search missedRuns(Session session, TaskQueue queue) throws SQLException {
    List<PollRequest.Wanted> types = queue.takeTypesIfQuietFor(0);
    ToLongFunction<PollRequest.Wanted> highUs = type -> Long.MAX_VALUE;
    if (types.isEmpty()) {
      // Claim rounds that are under way find the other due runs.
      types = queue.typesNotClaimed();
      highUs = queue::notClaimedUntilUs;
    }
    List<PollRequest.Wanted> exact =
        types.isEmpty() || !isEnabled(queue)
            ? List.of()
            : ClaimRuns.withVersions(session, queue.name(), types);
    return new NextDue.Search(queue.name(), exact, type -> 0, highUs);
  }

  private void checked(TaskQueue queue, NextDue next) {
    if (next.isDue()) {
      metrics.fallbackClaimed.increment();
      effects.execute(queue, queue.checkFrom(next.atUs()));
    } else {
      effects.execute(queue, queue.nextDue(next));
    }
  }

  private void claimRound(Session session, TaskQueue queue) throws SQLException {
    if (!isEnabled(queue)) {
      effects.execute(queue, queue.skipClaimRound());
      return;
    }
    metrics.claimRounds.increment();
    List<ClaimGroup> groups = queue.beginClaimRound();
    int done = 0;
    try {
      for (ClaimGroup group : groups) {
        claimFor(session, queue, group);
        done++;
      }
    } finally {
      for (ClaimGroup group : groups.subList(done, groups.size())) {
        effects.execute(queue, queue.claimNotMade(group));
      }
    }
    effects.execute(queue, queue.endClaimRound());
  }

  private void claimFor(Session session, TaskQueue queue, ClaimGroup group) throws SQLException {
    List<PollRequest.Wanted> exact = ClaimRuns.withVersions(session, queue.name(), group.types());
    long bytesFree = taskBytes.free();
    if (bytesFree == 0) {
      // Claimed tasks that wait for polls use up the memory: leave due runs in the database.
      effects.execute(queue, queue.claimNotMade(group));
      pause();
      return;
    }
    long bytesMax = Math.min(settings.readBytesMax, bytesFree);
    ClaimRuns.Found found =
        exact.isEmpty()
            ? ClaimRuns.Found.NOTHING
            : session.inTransaction(tx -> claim(tx, queue, group, exact, bytesMax));
    List<ClaimedRun> claimed =
        found.claimed().stream()
            .filter(run -> settings.callbacks.admit().test(queue.name(), run.task()))
            .filter(run -> registry.add(run.worker(), run.task().claim(), queue.name()))
            .toList();
    found.crashed().forEach(settings.callbacks.failCrashed());
    found.takenOver().forEach(type -> settings.callbacks.leaseEnded().accept(queue.name(), type));
    metrics.claimed.add(claimed.size());
    queue.metrics().claimed(claimed.size());
    effects.execute(queue, queue.claimed(group, claimed, found.isCut()));
    if (!isEnabled(queue)) {
      // The namespace was disabled while the query was in flight.
      effects.execute(queue, queue.releaseTasks());
    }
    if (claimed.size() < group.slots().size() && !exact.isEmpty() && !found.isCut()) {
      NextDue.Search search =
          new NextDue.Search(queue.name(), exact, queue::lowUs, type -> Long.MAX_VALUE);
      NextDue next = ClaimRuns.nextDue(session, List.of(search)).getFirst();
      effects.execute(queue, queue.nextDue(group, next));
    }
  }

  private boolean isEnabled(TaskQueue queue) {
    return settings.callbacks.isEnabled().test(queue.name().namespace());
  }

  private ClaimRuns.Found claim(
      Session tx, TaskQueue queue, ClaimGroup group, List<PollRequest.Wanted> types, long bytesMax)
      throws SQLException {
    QueueName name = queue.name();
    DispatchConfig config = settings.config;
    ClaimRules rules = settings.rules;
    List<PollRequest.Wanted> allowed = types;
    List<WorkerId> slots = group.slots();
    if (!group.limits().isNone()) {
      WorkerId worker = slots.get(0);
      HeldRuns.lock(tx, worker);
      List<HeldRuns.Held> held =
          HeldRuns.of(tx, worker, name, counted(group, types), rules.leaseMsMax());
      allowed = HeldRuns.within(group.limits(), types, held);
      Integer limit = group.limits().all();
      int free = limit == null ? slots.size() : Math.min(slots.size(), limit - held.size());
      if (allowed.isEmpty() || free <= 0) {
        return ClaimRuns.Found.NOTHING;
      }
      slots = slots.subList(0, free);
    }
    int max = slotsMax(group.types(), allowed, slots.size());
    ClaimRuns.Request request =
        new ClaimRuns.Request(
            name,
            allowed,
            slots.subList(0, max),
            config.firstLease().toMillis(),
            queue::lowUs,
            bytesMax,
            rules);
    ClaimRuns.Found found = ClaimRuns.claim(tx, request, config.answerBytesMax() / 2);
    return max < slots.size() && found.claimed().size() == max ? found.cut() : found;
  }

  /** The types whose runs count for the limits of the group's worker, which may hold others. */
  private static List<PollRequest.Wanted> counted(
      ClaimGroup group, List<PollRequest.Wanted> polled) {
    if (group.limits().all() == null) {
      return polled;
    }
    Set<String> names = new HashSet<>();
    group.types().forEach(type -> names.add(type.type()));
    List<PollRequest.Wanted> all = new ArrayList<>(polled);
    group.limits().served().stream().filter(type -> !names.contains(type.type())).forEach(all::add);
    return all;
  }

  /**
   * How many slots one query may fill. It limits each version of a type. So that all versions
   * together do not exceed the limit of a type that is polled for in any version, the query has no
   * more slots than that limit, and the next one follows at once.
   */
  private static int slotsMax(
      List<PollRequest.Wanted> polled, List<PollRequest.Wanted> exact, int slots) {
    Set<String> anyVersion = new HashSet<>();
    for (PollRequest.Wanted type : polled) {
      if (type.version().equals(PollRequest.ANY_VERSION)) {
        anyVersion.add(type.type());
      }
    }
    Set<String> seen = new HashSet<>();
    int max = slots;
    for (PollRequest.Wanted type : exact) {
      boolean isLimited = type.tasksMax() > 0 && anyVersion.contains(type.type());
      boolean isSecondVersion = isLimited && !seen.add(type.type());
      max = isSecondVersion ? Math.min(max, type.tasksMax()) : max;
    }
    return max;
  }

  @Override
  public void close() {
    closed = true;
    claimers.forEach(Thread::interrupt);
  }
}
