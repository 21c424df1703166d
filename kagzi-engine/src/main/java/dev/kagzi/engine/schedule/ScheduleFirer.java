package dev.kagzi.engine.schedule;

import dev.kagzi.engine.db.Database;
import dev.kagzi.engine.db.Session;
import dev.kagzi.engine.db.SqlErrors;
import dev.kagzi.engine.run.RunEvents;
import dev.kagzi.engine.value.ErrorCode;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Json;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fires what is due: batch after batch, each one transaction in which templates are locked, their
 * slots become runs, and the templates are advanced. What others have locked is theirs. A row that
 * cannot be fired is put aside with the reason, and the others go on. Not thread-safe.
 */
public final class ScheduleFirer implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ScheduleFirer.class);

  private static final int SLOTS_KEPT_MAX = 20_000;
  private static final int FORGOTTEN_MAX = 100;

  /** Something is due that somebody else has. */
  private static final long LOCKED_MS = 50;

  private final Database database;
  private final ScheduleConfig config;
  private final RunEvents events;
  private final Duration interval;
  private final Map<String, FireTimes> known = new HashMap<>();
  private @Nullable Session session;
  private final Shared shared;

  /** The last tick succeeded and left no slot that was on time, so the next one starts afresh. */
  private boolean isCaughtUp = true;

  /** What those have in common who fire on one server. */
  private record Shared(CatchupBudget late, OnTime onTime, AtomicBoolean ended) {}

  public ScheduleFirer(
      Database database, ScheduleConfig config, Duration interval, RunEvents events) {
    this(
        database,
        config,
        interval,
        events,
        new Shared(
            new CatchupBudget(config.latePerTick(), interval),
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

  /** Somebody who fires beside this one, on another thread, and has a share of its budget. */
  public ScheduleFirer helper() {
    return new ScheduleFirer(database, config, interval, events, shared);
  }

  /** No batch begins any more, here or by helpers. The only method for any thread. */
  public void end() {
    shared.ended.set(true);
  }

  /** Fires all that is due; answers after how many milliseconds the next will be, if any. */
  public @Nullable Long tick() {
    return tick(() -> {});
  }

  /** The same; tells when there is enough to do for others too. */
  public @Nullable Long tick(Runnable crowded) {
    // A tick that failed, or found schedules locked, is continued by this one. What was on time
    // then must not become missed by the retry.
    if (isCaughtUp) {
      shared.onTime.begin();
    }
    isCaughtUp = false;
    try {
      fireAll(crowded);
      Long nextMs = ScheduleTemplates.nextDueMs(session());
      if (nextMs == null || nextMs > 0) {
        isCaughtUp = true;
        return nextMs;
      }
      ScheduleTemplates.Left left = ScheduleTemplates.newestLeft(session());
      isCaughtUp = left == null || !shared.onTime.isDueNow(left.dueSecond(), left.nowSecond());
      return shared.late.isSpent() ? interval.toMillis() : LOCKED_MS;
    } catch (SQLException e) {
      throw refusal(e);
    }
  }

  /** Fires beside somebody else's tick until nothing is due. */
  public void help() {
    try {
      fireAll(() -> {});
    } catch (SQLException e) {
      throw refusal(e);
    }
  }

  private void fireAll(Runnable crowded) throws SQLException {
    Batch last;
    do {
      shared.late.refill();
      if (shared.ended.get()) {
        return;
      }
      last = batch();
      if (last.full && last.templates > 0) {
        crowded.run();
      }
    } while (last.templates > 0);
  }

  /** Starts slots that wait although nothing runs. */
  public void startForgotten() {
    try {
      tell(session().inTransaction(tx -> ScheduledRunEnds.startForgotten(tx, FORGOTTEN_MAX)));
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
      return new Batch(oneByOne(), false, List.of());
    }
  }

  /** One of a batch is refused by the database: it is found and put aside. */
  private int oneByOne() throws SQLException {
    int fired = 0;
    for (RunId id : ScheduleTemplates.dueIds(session(), config.batch())) {
      try {
        fired += fire(tx -> ScheduleTemplates.lockOne(tx, id)).templates;
      } catch (SQLException e) {
        if (SqlErrors.remedy(e) != SqlErrors.Remedy.SPLIT) {
          throw e;
        }
        session().inTransaction(tx -> putAside(tx, id, String.valueOf(e.getMessage())));
        fired++;
      }
    }
    return fired;
  }

  private Batch fire(Session.Work<List<ScheduleTemplates.Template>> lock) throws SQLException {
    AtomicInteger lateFired = new AtomicInteger();
    boolean committed = false;
    try {
      Batch done = session().inTransaction(tx -> fire(tx, lock.run(tx), lateFired));
      committed = true;
      tell(done.fired);
      return done;
    } finally {
      if (!committed) {
        shared.late.giveBack(lateFired.get());
      }
    }
  }

  /**
   * What a transaction has done.
   *
   * @param templates how many it has dealt with
   * @param full there may be more than it could take
   */
  private record Batch(int templates, boolean full, List<FiredRun> fired) {}

  private Batch fire(Session tx, List<ScheduleTemplates.Template> due, AtomicInteger lateFired)
      throws SQLException {
    List<RunId> apart =
        due.stream()
            .filter(ScheduleTemplates.Template::isApart)
            .map(ScheduleTemplates.Template::id)
            .toList();
    Set<RunId> open = ScheduleTemplates.withOpenRuns(tx, apart);
    Map<RunId, FirePlan> plans = new HashMap<>();
    List<FireRuns.Wanted> wanted = new ArrayList<>();
    BatchCapacity room = new BatchCapacity();
    int dealtWith = 0;
    for (ScheduleTemplates.Template template : due) {
      long onTimeFrom = shared.onTime.from(template.nowSecond());
      // Without catch-up no missed slot becomes a run: the limit on them must not delay it.
      boolean isLate = template.maxCatchup() > 0 && template.cursor() < onTimeFrom;
      int fits = room.runs(template.inputBytes());
      int max = isLate ? shared.late.take(fits) : fits;
      int used = 0;
      if (max > 0) {
        dealtWith++;
        FirePlan plan = plan(tx, template, open.contains(template.id()), max);
        if (plan != null) {
          plans.put(template.id(), plan);
          plan.slots().forEach(slot -> wanted.add(wanted(template, slot)));
          room.take(plan.slots().size(), template.inputBytes());
          used = Math.min(max, Math.max(1, plan.slots().size()));
        }
      }
      if (isLate) {
        shared.late.giveBack(max - used);
        lateFired.addAndGet(used);
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
    return new Batch(dealtWith, due.size() == config.batch(), inserted.runs());
  }

  private static FireRuns.Wanted wanted(ScheduleTemplates.Template template, long slot) {
    RunId run = RunId.next(template.id().shard());
    return new FireRuns.Wanted(run, template.id(), slot, template.delayMs(slot));
  }

  /** Null for one that is put aside: whatever is wrong with it is wrong with no other. */
  private @Nullable FirePlan plan(
      Session tx, ScheduleTemplates.Template template, boolean open, int max) throws SQLException {
    try {
      FirePlan.Due due =
          new FirePlan.Due(
              slots(template),
              template.overlap(),
              template.maxCatchup(),
              template.cursor(),
              template.buffered(),
              open);
      long now = template.nowSecond();
      return FirePlan.of(due, now, shared.onTime.dueNowFrom(now), max);
    } catch (RuntimeException unreadable) {
      putAside(tx, template.id(), String.valueOf(unreadable.getMessage()));
      return null;
    }
  }

  private static boolean putAside(Session tx, RunId id, String why) throws SQLException {
    log.atWarn()
        .addKeyValue("schedule", id)
        .addKeyValue("cause", why)
        .log("a schedule cannot fire, it is put aside for a minute");
    ScheduleTemplates.putAside(tx, id, Json.encode(Failure.of(ErrorCode.INTERNAL, why)));
    return true;
  }

  private FireTimes slots(ScheduleTemplates.Template template) {
    if (known.size() > SLOTS_KEPT_MAX) {
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

  private void tell(List<FiredRun> fired) {
    if (!fired.isEmpty()) {
      FiredRun.tell(fired, events);
      events.committed();
    }
  }

  private Refusal refusal(SQLException e) {
    database.failed("schedules", e, session);
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
