package dev.kagzi.torture;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.ScheduleBuilder;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/**
 * A torture test of schedules: days pass in minutes, while servers are killed, paused and cut off
 * from PostgreSQL, and PostgreSQL is killed. Afterwards the test finds all slots by a walk over all
 * minutes. Each slot must have one run, or be counted as missed if its schedule allows that. No run
 * may be early or without a slot. The runs of some schedules take hours of that time, and must not
 * overlap.
 */
final class ScheduleTorture implements AutoCloseable {
  /** Ten days in which clocks are put forward in Europe and back in Australia. */
  static final Instant BEGIN = Instant.parse("2026-03-26T00:00:00Z");

  static final Duration LENGTH = Duration.ofDays(10);

  private static final int FULL_SCHEDULES = 1_000;
  private static final int SERVERS = 3;
  private static final int FAULT_KINDS = 3;
  private static final int CREATORS = 8;
  private static final Duration STEP_MAX = Duration.ofSeconds(2);
  private static final Duration END_MAX = Duration.ofMinutes(3);

  /** Far more than a tick takes, and far less than a step of time. */
  private static final long LATE_SECONDS = 60;

  private static final int VIOLATIONS_SHOWN_MAX = 50;
  private static final WorkflowType<String, String> TYPE =
      WorkflowType.of("tortured", String.class, String.class).queue("tortured");
  private static final WorkflowType<String, String> LASTING =
      WorkflowType.of("lasting", String.class, String.class).queue("lasting");
  private static final Duration LASTING_MAX = Duration.ofMinutes(100);
  private static final int RUNS_MAX = 40;

  /**
   * The size of the test.
   *
   * @param step by how much the clock is put forward at a time
   */
  record Settings(int schedules, Duration step, long seed) {}

  /**
   * The result.
   *
   * @param faults of all kinds
   * @param databaseKills how often PostgreSQL was killed
   * @param cuts how often a server was cut off from PostgreSQL
   * @param problems empty if the test has passed
   */
  record Result(
      int schedules,
      long slots,
      int faults,
      int databaseKills,
      int cuts,
      long seed,
      List<String> problems) {
    boolean passed() {
      return problems.isEmpty();
    }

    String lastLine() {
      String what =
          "%d schedules, %d slots, %d faults (PostgreSQL killed %d times, servers cut off %d times), seed %d"
              .formatted(schedules, slots, faults, databaseKills, cuts, seed);
      return passed() ? "passed: " + what : "FAILED: " + problems.size() + " problems; " + what;
    }
  }

  private final Console console;
  private final Settings settings;
  private final WorkFolder workFolder = WorkFolder.create();
  private final Database database;
  private final List<JavaProcess> servers = new ArrayList<>();
  private final List<Link> links = new ArrayList<>();
  private final List<Link> toDatabase = new ArrayList<>();
  private final List<PlannedSchedule> plans;
  private final Map<String, PlannedSchedule> planById = new ConcurrentHashMap<>();
  private final AtomicInteger faults = new AtomicInteger();
  private final AtomicInteger databaseKills = new AtomicInteger();
  private final AtomicInteger cuts = new AtomicInteger();
  private final List<String> problems = new ArrayList<>();
  private final Thread endServers;
  private volatile boolean injecting = true;

  private ScheduleTorture(Console console, Settings settings) {
    this.console = console;
    this.settings = settings;
    this.plans = PlannedSchedule.mixture(settings.schedules, new Random(settings.seed));
    Path folder = workFolder.folder();
    this.database = Database.start(folder.resolve("postgres"));
    for (int i = 1; i <= SERVERS; i++) {
      Link link = new Link();
      link.to(database.port());
      toDatabase.add(link);
      Map<String, String> environment =
          Map.of(
              "KAGZI_DB_URL",
              Database.url(List.of(link.port())),
              "KAGZI_DB_USER",
              database.user(),
              "KAGZI_DB_PASSWORD",
              database.password(),
              ServerMain.LATE_PER_TICK,
              "100000");
      servers.add(new JavaProcess("server-" + i, ServerMain.class, environment, folder));
      links.add(new Link());
    }
    this.endServers = new Thread(this::stopServers, "end-servers");
    Runtime.getRuntime().addShutdownHook(endServers);
  }

  static Result run(Console console, Settings settings) {
    try (ScheduleTorture torture = new ScheduleTorture(console, settings)) {
      return torture.run();
    } catch (SQLException e) {
      throw new TortureException("the database: " + e.getMessage(), e);
    }
  }

  private Result run() throws SQLException {
    for (int i = 0; i < SERVERS; i++) {
      start(i);
    }
    String addresses = links.stream().map(Link::address).collect(Collectors.joining(","));
    try (SteadyConnection connection = new SteadyConnection(database);
        Kagzi kagzi =
            Kagzi.builder().address(addresses).callTimeout(Duration.ofSeconds(30)).connect()) {
      VirtualClock clock = new VirtualClock(connection);
      clock.stopAt(BEGIN);
      createAll(kagzi);
      console.printTimed(
          "%d servers, %d schedules; in %s".formatted(SERVERS, plans.size(), workFolder.folder()));
      injectFaultsWhileTimePasses(connection, clock, kagzi);
      clock.stopAt(BEGIN.plus(LENGTH));
      if (!awaitNothingDue(connection, END_MAX)) {
        problems.add("not all slots were fired within " + END_MAX.toSeconds() + " s");
      }
      stopServers();
      return connection.use(this::check);
    } catch (InterruptedException e) {
      throw TortureException.interrupted(e);
    }
  }

  private void start(int index) {
    links.get(index).to(Integer.parseInt(servers.get(index).start()));
  }

  @SuppressWarnings("try") // close() stops the worker
  private void injectFaultsWhileTimePasses(
      SteadyConnection connection, VirtualClock clock, Kagzi kagzi)
      throws SQLException, InterruptedException {
    try (Worker worker =
            kagzi
                .worker()
                .workflow(LASTING, ScheduleTorture::last)
                .maxConcurrent(RUNS_MAX)
                .drainOnShutdown(false)
                .start();
        OverlapWatch watch =
            new OverlapWatch(database, kagzi, LASTING, schedulesWithoutOverlap())) {
      List<Thread> injectors = new ArrayList<>();
      for (int i = 0; i < SERVERS; i++) {
        int server = i;
        injectors.add(
            Thread.ofVirtual()
                .start(() -> injectServerFaults(server, new Random(settings.seed + server))));
      }
      injectors.add(
          Thread.ofVirtual()
              .start(() -> injectDatabaseFaults(new Random(settings.seed + SERVERS))));
      passTime(connection, clock);
      injecting = false;
      for (Thread injector : injectors) {
        injector.join();
      }
      watch.close();
      console.printTimed(watch.summary());
      problems.addAll(watch.problems(settings.schedules >= FULL_SCHEDULES));
    }
  }

  private List<String> schedulesWithoutOverlap() {
    return planById.entrySet().stream()
        .filter(entry -> entry.getValue().mustNotOverlap())
        .map(Map.Entry::getKey)
        .toList();
  }

  /**
   * The code of a run that lasts. Some runs end at once, some sleep for up to two hours or until
   * their time-out, and some fail.
   */
  private static String last(WorkflowContext ctx, String name) {
    int lot = ctx.step("lot", Integer.class, () -> ThreadLocalRandom.current().nextInt(100));
    if (lot < 60) {
      ctx.sleep("while", Duration.ofMinutes(2L * lot));
    }
    if (lot % 10 == 0) {
      throw new NonRetryableException("as planned");
    }
    return name;
  }

  private void createAll(Kagzi kagzi) throws InterruptedException {
    try (ExecutorService creators = Executors.newFixedThreadPool(CREATORS)) {
      List<Future<?>> made = new ArrayList<>();
      for (PlannedSchedule plan : plans) {
        made.add(creators.submit(() -> create(kagzi, plan)));
      }
      for (Future<?> each : made) {
        each.get();
      }
    } catch (ExecutionException e) {
      throw new TortureException("a schedule was not created: " + e.getCause(), e);
    }
  }

  private void create(Kagzi kagzi, PlannedSchedule plan) {
    ScheduleBuilder<String> wanted =
        kagzi
            .schedule(plan.name())
            .workflow(plan.mustNotOverlap() ? LASTING : TYPE)
            .cron(plan.cron())
            .zone(plan.zone())
            .input(plan.name())
            .overlap(plan.overlap())
            .maxCatchup(plan.maxCatchup());
    if (plan.mustNotOverlap()) {
      wanted.executionTimeout(LASTING_MAX);
    }
    planById.put(wanted.create().id(), plan);
  }

  private void passTime(SteadyConnection connection, VirtualClock clock) throws SQLException {
    Instant end = BEGIN.plus(LENGTH);
    int day = 0;
    for (Instant time = BEGIN.plus(settings.step);
        time.isBefore(end);
        time = time.plus(settings.step)) {
      clock.runFrom(time);
      awaitNothingDue(connection, STEP_MAX);
      int days = (int) Duration.between(BEGIN, time).toDays();
      if (days > day) {
        day = days;
        console.printTimed("day %d is over, %d faults".formatted(day, faults.get()));
      }
    }
  }

  private static boolean awaitNothingDue(SteadyConnection connection, Duration max)
      throws SQLException {
    long giveUpNanos = System.nanoTime() + max.toNanos();
    while (connection.use(ScheduleTorture::isDue)) {
      if (System.nanoTime() - giveUpNanos > 0) {
        return false;
      }
      Pause.ofUnchecked(Duration.ofMillis(10));
    }
    return true;
  }

  private static boolean isDue(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT EXISTS (SELECT FROM kagzi.workflow_runs WHERE cron_expr IS NOT NULL AND"
                    + " status = 'SCHEDULED' AND available_at <= kagzi.clock())")) {
      row.next();
      return row.getBoolean(1);
    }
  }

  /** Kills PostgreSQL at least once, and leaves it running. */
  private void injectDatabaseFaults(Random random) {
    try {
      Pause.ofUnchecked(Duration.ofMillis(1_000 + random.nextInt(2_000)));
      do {
        killDatabase(Duration.ofMillis(100 + random.nextInt(900)));
        // Long enough for servers to start meanwhile, also on a busy machine.
        for (int ms = 8_000 + random.nextInt(8_000); ms > 0 && injecting; ms -= 500) {
          Pause.ofUnchecked(Duration.ofMillis(500));
        }
      } while (injecting);
    } catch (RuntimeException e) {
      synchronized (problems) {
        problems.add("PostgreSQL: " + e.getMessage());
      }
    }
  }

  private void killDatabase(Duration downTime) {
    database.lock().lock();
    try {
      database.kill();
      faults.incrementAndGet();
      databaseKills.incrementAndGet();
      Pause.ofUnchecked(downTime);
      database.restart();
      toDatabase.forEach(link -> link.to(database.port()));
    } finally {
      database.lock().unlock();
    }
  }

  /**
   * Kills, pauses or cuts off one server, and leaves it running; each server begins with another
   * kind.
   */
  private void injectServerFaults(int index, Random random) {
    JavaProcess server = servers.get(index);
    int kind = index % FAULT_KINDS;
    try {
      do {
        Pause.ofUnchecked(Duration.ofMillis(1_000 + random.nextInt(4_000)));
        faults.incrementAndGet();
        switch (kind) {
          case 0 -> {
            server.kill();
            Pause.ofUnchecked(Duration.ofMillis(random.nextInt(2_000)));
            start(index);
          }
          case 1 -> {
            server.signal(UnixSignal.STOP);
            Pause.ofUnchecked(Duration.ofMillis(500 + random.nextInt(7_000)));
            server.signal(UnixSignal.CONT);
          }
          default -> {
            toDatabase.get(index).cut();
            cuts.incrementAndGet();
          }
        }
        kind = random.nextInt(FAULT_KINDS);
      } while (injecting);
    } catch (RuntimeException e) {
      synchronized (problems) {
        problems.add(server.name() + ": " + e.getMessage());
      }
    }
  }

  private Result check(Connection connection) throws SQLException {
    console.printTimed("walking over all minutes");
    Map<String, WallClock> clocks = new HashMap<>();
    Map<String, List<Long>> expected = new HashMap<>();
    long slots = 0;
    for (Map.Entry<String, PlannedSchedule> entry : planById.entrySet()) {
      PlannedSchedule plan = entry.getValue();
      WallClock clock =
          clocks.computeIfAbsent(
              plan.zone(),
              zone -> new WallClock(ZoneId.of(zone), BEGIN, BEGIN.plus(LENGTH).plusSeconds(60)));
      long end = BEGIN.plus(LENGTH).getEpochSecond();
      List<Long> all = plan.slots(clock, BEGIN.getEpochSecond());
      all.removeIf(slot -> slot > end);
      expected.put(entry.getKey(), all);
      slots += all.size();
    }
    ScheduleRules rules = new ScheduleRules(planById, expected, LATE_SECONDS, problems);
    rules.check(connection);
    problems.stream().limit(VIOLATIONS_SHOWN_MAX).forEach(console::print);
    return new Result(
        plans.size(),
        slots,
        faults.get(),
        databaseKills.get(),
        cuts.get(),
        settings.seed,
        List.copyOf(problems));
  }

  private void stopServers() {
    servers.forEach(JavaProcess::close);
  }

  @Override
  public void close() {
    injecting = false;
    stopServers();
    links.forEach(Link::close);
    toDatabase.forEach(Link::close);
    database.close();
    Runtime.getRuntime().removeShutdownHook(endServers);
    if (problems.isEmpty()) {
      workFolder.delete();
    } else {
      workFolder.keepEvidence();
      console.print("logs: " + workFolder.folder());
    }
  }
}
