package dev.kagzi.engine.internal.schedule;

import dev.kagzi.engine.config.ScheduleConfig;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.db.SqlErrors;
import dev.kagzi.engine.internal.run.RunEvents;
import dev.kagzi.engine.internal.value.Json;
import dev.kagzi.engine.value.ErrorCode;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fires due schedules in batches. One transaction locks templates, creates the runs of their slots
 * and advances the templates. Templates that another server has locked are skipped. A template that
 * cannot fire is postponed with the reason, and the others fire. Not thread-safe.
 */
public final class ScheduleFirer implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ScheduleFirer.class);

  private static final int FIRE_TIMES_CACHED_MAX = 20_000;
  private static final int BUFFERED_MAX = 100;

  /** Delay before the next round when another session has locked a due template. */
  private static final long LOCKED_MS = 50;

  private final Database database;
  private final ScheduleConfig config;
  private final RunEvents events;
  private final Duration interval;
  private final Map<String, FireTimes> known = new HashMap<>();
  private @Nullable Session session;
  private final Shared shared;

  /** The last round succeeded and left no slot due now, so the next one begins a new window. */
  private boolean isCaughtUp = true;

  private record Shared(CatchupBudget catchup, OnTime onTime, AtomicBoolean stopped) {}

  public ScheduleFirer(
      Database database, ScheduleConfig config, Duration interval, RunEvents events) {
    this(
        database,
        config,
        interval,
        events,
        new Shared(
            new CatchupBudget(config.notOnTimePerTick(), interval),
            new OnTime(interval),
            new AtomicBoolean()));
  }

  private ScheduleFirer(
      Database database,
      ScheduleConfig config,
      Duration interval,
      RunEvents events,
      Shared shared) {
    this.database = database;
    this.config = config;
    this.interval = interval;
    this.events = events;
    this.shared = shared;
  }

  /** Creates a firer for another thread, with the same budget, window and stop. */
  public ScheduleFirer helper() {
    return new ScheduleFirer(database, config, interval, events, shared);
  }

  /** Stops this firer and its helpers before their next batch. The only thread-safe method. */
  public void stop() {
    shared.stopped.set(true);
  }

  /**
   * Fires the due schedules. Returns the milliseconds until the next round, or null if no schedule
   * has a next slot.
   *
   * @param helpNeeded called when there is enough work for a helper
   */
  public @Nullable Long fireDue(Runnable helpNeeded) {
    // Otherwise this round continues one that failed or found schedules locked: slots that were on
    // time then must not become late.
    if (isCaughtUp) {
      shared.onTime.begin();
    }
    isCaughtUp = false;
    try {
      fireAll(helpNeeded);
      Long nextMs = ScheduleTemplates.nextDueMs(session());
      if (nextMs == null || nextMs > 0) {
        isCaughtUp = true;
        return nextMs;
      }
      ScheduleTemplates.Left left = ScheduleTemplates.newestLeft(session());
      isCaughtUp = left == null || !shared.onTime.isDueNow(left.dueSecond(), left.nowSecond());
      return shared.catchup.isSpent() ? interval.toMillis() : LOCKED_MS;
    } catch (SQLException e) {
      throw refusal(e);
    }
  }

  /** Fires in parallel to another firer's round until nothing is due. */
  public void help() {
    try {
      fireAll(() -> {});
    } catch (SQLException e) {
      throw refusal(e);
    }
  }

  private void fireAll(Runnable helpNeeded) throws SQLException {
    Batch last;
    do {
      shared.catchup.refill();
      if (shared.stopped.get()) {
        return;
      }
      last = batch();
      if (last.full && last.templates > 0) {
        helpNeeded.run();
      }
    } while (last.templates > 0);
  }

  public void startOverdueBuffered() {
    try {
      publish(
          session().inTransaction(tx -> ScheduledRunEnds.startOverdueBuffered(tx, BUFFERED_MAX)));
    } catch (SQLException e) {
      throw refusal(e);
    }
  }

  private Batch batch() throws SQLException {
    try {
      return fire(tx -> ScheduleTemplates.lockDue(tx, config.batch()));
    } catch (SQLException e) {
      if (SqlErrors.remedy(e) != SqlErrors.Remedy.SPLIT) {
        throw e;
      }
      return new Batch(oneByOne(), false, List.of(), Lateness.begin());
    }
  }

  /** After a refused batch, fires single templates, and postpones those refused again. */
  private int oneByOne() throws SQLException {
    int fired = 0;
    for (RunId id : ScheduleTemplates.dueIds(session(), config.batch())) {
      try {
        fired += fire(tx -> ScheduleTemplates.lockOne(tx, id)).templates;
      } catch (SQLException e) {
        if (SqlErrors.remedy(e) != SqlErrors.Remedy.SPLIT) {
          throw e;
        }
        session().inTransaction(tx -> postpone(tx, id, String.valueOf(e.getMessage())));
        fired++;
      }
    }
    return fired;
  }

  private Batch fire(Session.Work<List<ScheduleTemplates.Template>> lock) throws SQLException {
    AtomicInteger catchupUsed = new AtomicInteger();
    boolean committed = false;
    try {
      Batch done = session().inTransaction(tx -> fire(tx, lock.run(tx), catchupUsed));
      committed = true;
      done.lateness.publish(done.fired, events);
      publish(done.fired);
      return done;
    } finally {
      if (!committed) {
        shared.catchup.giveBack(catchupUsed.get());
      }
    }
  }

  /**
   * The result of a transaction.
   *
   * @param templates number of templates it has processed
   * @param full whether more templates may be due
   * @param lateness of the fired runs
   */
  private record Batch(int templates, boolean full, List<FiredRun> fired, Lateness lateness) {}

  /** How late the slots of a batch are, at a moment of this JVM's clock. */
  private record Lateness(Map<RunId, Long> ms, long atNanos) {
    static Lateness begin() {
      return new Lateness(new HashMap<>(), System.nanoTime());
    }

    void publish(List<FiredRun> fired, RunEvents events) {
      long sinceMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - atNanos);
      for (FiredRun run : fired) {
        Long late = ms.get(run.runId());
        if (late != null) {
          events.slotFired(late + sinceMs);
        }
      }
    }
  }

  private Batch fire(Session tx, List<ScheduleTemplates.Template> due, AtomicInteger catchupUsed)
      throws SQLException {
    List<RunId> withoutOverlap =
        due.stream()
            .filter(ScheduleTemplates.Template::forbidsOverlap)
            .map(ScheduleTemplates.Template::id)
            .toList();
    Set<RunId> open = ScheduleTemplates.withOpenRuns(tx, withoutOverlap);
    Map<RunId, FirePlan> plans = new HashMap<>();
    List<FireRuns.Wanted> wanted = new ArrayList<>();
    BatchCapacity capacity = new BatchCapacity();
    Lateness lateness = Lateness.begin();
    int processed = 0;
    for (ScheduleTemplates.Template template : due) {
      long onTimeFrom = shared.onTime.from(template.nowSecond());
      // Without catch-up no late slot becomes a run, so the limit must not delay the schedule.
      boolean needsCatchup = template.maxCatchup() > 0 && template.nextSlot() < onTimeFrom;
      int fits = capacity.runs(template.inputBytes());
      int max = needsCatchup ? shared.catchup.take(fits) : fits;
      int used = 0;
      if (max > 0) {
        processed++;
        FirePlan plan = plan(tx, template, open.contains(template.id()), max);
        if (plan != null) {
          plans.put(template.id(), plan);
          plan.slots().forEach(slot -> wanted.add(wanted(template, slot, lateness)));
          capacity.take(plan.slots().size(), template.inputBytes());
          used = Math.min(max, Math.max(1, plan.slots().size()));
        }
      }
      if (needsCatchup) {
        shared.catchup.giveBack(max - used);
        catchupUsed.addAndGet(used);
      }
    }
    FireRuns.Inserted inserted = FireRuns.insert(tx, wanted);
    Map<RunId, Integer> fired = new HashMap<>();
    Map<RunId, Integer> conflicts = new HashMap<>();
    inserted.runs().forEach(run -> fired.merge(run.schedule(), 1, Integer::sum));
    inserted.conflicts().forEach(slot -> conflicts.merge(slot.schedule(), 1, Integer::sum));
    List<ScheduleTemplates.Advance> advances = new ArrayList<>();
    plans.forEach(
        (id, plan) ->
            advances.add(
                new ScheduleTemplates.Advance(
                    id, plan, fired.getOrDefault(id, 0), conflicts.getOrDefault(id, 0))));
    ScheduleTemplates.advance(tx, advances);
    return new Batch(processed, due.size() == config.batch(), inserted.runs(), lateness);
  }

  private static FireRuns.Wanted wanted(
      ScheduleTemplates.Template template, long slot, Lateness lateness) {
    FireRuns.Wanted wanted = FireRuns.Wanted.ofSlot(template.id(), slot, template.delayMs(slot));
    // A buffered slot has waited for a run, by the schedule's own policy.
    if (slot != template.buffered()) {
      lateness.ms.put(wanted.runId(), template.lateMs(slot));
    }
    return wanted;
  }

  /** Returns null if it had to postpone the template, which must not fail the batch. */
  private @Nullable FirePlan plan(
      Session tx, ScheduleTemplates.Template template, boolean open, int max) throws SQLException {
    try {
      FirePlan.Due due =
          new FirePlan.Due(
              slots(template),
              template.overlap(),
              template.maxCatchup(),
              template.nextSlot(),
              template.buffered(),
              open);
      long now = template.nowSecond();
      return FirePlan.of(due, now, shared.onTime.dueNowFrom(now), max);
    } catch (RuntimeException unreadable) {
      postpone(tx, template.id(), String.valueOf(unreadable.getMessage()));
      return null;
    }
  }

  private static boolean postpone(Session tx, RunId id, String why) throws SQLException {
    log.atWarn()
        .addKeyValue("schedule", id)
        .addKeyValue("cause", why)
        .log("a schedule cannot fire, postponed by one minute");
    ScheduleTemplates.postpone(tx, id, Json.encode(Failure.of(ErrorCode.INTERNAL, why)));
    return true;
  }

  private FireTimes slots(ScheduleTemplates.Template template) {
    if (known.size() > FIRE_TIMES_CACHED_MAX) {
      known.clear();
    }
    String key = template.timeZone() + ' ' + template.cronExpr();
    FireTimes slots = known.get(key);
    if (slots == null) {
      slots = FireTimes.of(template.cronExpr(), template.timeZone());
      known.put(key, slots);
    }
    return slots;
  }

  private void publish(List<FiredRun> fired) {
    if (!fired.isEmpty()) {
      FiredRun.publish(fired, events);
      events.committed();
    }
  }

  private Refusal refusal(SQLException e) {
    database.logFailure("schedules", e, session);
    close();
    return SqlErrors.refusal(e);
  }

  private Session session() throws SQLException {
    if (session == null || !session.isUsable()) {
      session = database.open("schedules");
    }
    return session;
  }

  @Override
  public void close() {
    if (session != null) {
      session.close();
      session = null;
    }
  }
}
