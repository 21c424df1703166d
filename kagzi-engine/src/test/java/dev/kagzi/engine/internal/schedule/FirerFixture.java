package dev.kagzi.engine.internal.schedule;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.payload;

import dev.kagzi.engine.Stored;
import dev.kagzi.engine.TestClock;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestSchedules;
import dev.kagzi.engine.config.ScheduleConfig;
import dev.kagzi.engine.internal.run.LargePayloads;
import dev.kagzi.engine.namespace.Namespaces;
import dev.kagzi.engine.schedule.Overlap;
import dev.kagzi.engine.schedule.ScheduleSpec;
import dev.kagzi.engine.schedule.ScheduleStarts;
import dev.kagzi.engine.schedule.ScheduleUpdate;
import dev.kagzi.engine.schedule.ScheduleView;
import dev.kagzi.engine.schedule.Schedules;
import dev.kagzi.engine.schedule.SilentEvents;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.TypeVersion;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Schedules and the firer without an engine: nothing fires by itself. */
abstract class FirerFixture {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  static final Duration INTERVAL = Duration.ofSeconds(1);
  static final Instant BEGIN = Instant.parse("2026-03-01T10:00:30Z");

  final Stored stored = new Stored(database);
  final TestClock clock = new TestClock(database);
  final RecordedEvents events = new RecordedEvents();
  Schedules schedules;
  ScheduleStarts starts;
  Namespaces namespaces;
  ScheduleFirer firer;

  /** The events that were published after commits. */
  static final class RecordedEvents extends SilentEvents {
    final List<QueueName> due = new ArrayList<>();
    final List<Long> expires = new ArrayList<>();
    final List<Long> lateMs = new ArrayList<>();
    int fired;
    Runnable then = () -> {};

    @Override
    public void runsDue(QueueName queue, TypeVersion type, long delayMs) {
      due.add(queue);
      then.run();
    }

    @Override
    public void expires(long delayMs) {
      expires.add(delayMs);
    }

    @Override
    public void fired(QueueName queue, TypeVersion type) {
      fired++;
    }

    @Override
    public void slotFired(long late) {
      lateMs.add(late);
    }
  }

  @BeforeEach
  void open() {
    clock.at(BEGIN);
    database.forgetRuns();
    database.execute(
        "TRUNCATE kagzi.run_changes, kagzi.run_counts, kagzi.schedule_changes,"
            + " kagzi.workflow_types");
    namespaces = new Namespaces(database.open(), Limits.DEFAULT, false, (n, on) -> {}, n -> {});
    schedules =
        new Schedules(
            database.open(),
            namespaces,
            Limits.DEFAULT,
            new LargePayloads(Limits.DEFAULT),
            ms -> {});
    starts = new ScheduleStarts(database.open(), namespaces, Limits.DEFAULT, events);
    firer = new ScheduleFirer(database.open(), new ScheduleConfig(100, 1_000), INTERVAL, events);
  }

  @AfterEach
  void close() {
    firer.close();
    clock.reset();
  }

  void ahead(Duration by) {
    clock.at(BEGIN.plus(by));
  }

  ScheduleView create(ScheduleSpec spec) {
    return schedules.create(TestSchedules.creation(NAMESPACE, spec));
  }

  static ScheduleSpec minutely(String name) {
    return TestSchedules.spec(name, "q", "report", "* * * * *");
  }

  static ScheduleSpec with(String name, Overlap overlap, int maxCatchup) {
    return with(name, overlap, maxCatchup, payload("1"));
  }

  static ScheduleSpec with(String name, Overlap overlap, int maxCatchup, Payload input) {
    return new ScheduleSpec(
        name,
        "q",
        "report",
        "",
        "* * * * *",
        "UTC",
        input,
        overlap,
        maxCatchup,
        0,
        null,
        null,
        null,
        "",
        "");
  }

  ScheduleView view(ScheduleView schedule) {
    return schedules.get(NAMESPACE, schedule.id());
  }

  List<Instant> slots(ScheduleView schedule) {
    return database.run(
        session ->
            session
                .query(
                    "SELECT fire_at FROM kagzi.workflow_runs WHERE schedule_id = ? AND fire_at IS"
                        + " NOT NULL ORDER BY available_at, run_id")
                .bind(schedule.id().value())
                .list(row -> row.time("fire_at")));
  }

  static List<Instant> minutes(Instant first, int count) {
    List<Instant> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      all.add(first.plusSeconds(60L * i));
    }
    return all;
  }

  static Instant next(ScheduleView schedule) {
    Instant next = schedule.nextFireAt();
    if (next == null) {
      throw new AssertionError("no next slot: " + schedule);
    }
    return next;
  }

  List<RunId> runs(ScheduleView schedule) {
    return database.run(
        session ->
            session
                .query("SELECT run_id FROM kagzi.workflow_runs WHERE schedule_id = ? ORDER BY 1")
                .bind(schedule.id().value())
                .list(row -> row.runId("run_id")));
  }

  static ScheduleUpdate cron(String expression) {
    return new ScheduleUpdate(
        null,
        null,
        null,
        null,
        expression,
        null,
        null,
        null,
        null,
        null,
        null,
        false,
        null,
        null,
        null,
        null,
        null,
        null);
  }
}
