package dev.kagzi.torture;

import dev.kagzi.torture.Findings.Violation;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One torture test from the first process to the verdict: load, planned faults, an end within a
 * time limit, and the checker. Used by one thread.
 */
final class Torture implements AutoCloseable {
  static final int SERVERS = 2;
  static final int WORKERS = 3;
  private static final Duration WARM_UP_MAX = Duration.ofSeconds(60);
  private static final int WARM_UP_RESULTS = 20;
  private static final Duration END_MAX = Duration.ofSeconds(60);
  private static final int VIOLATIONS_SHOWN_MAX = 50;

  private final Console console;
  private final long seed;
  private final WorkFolder workFolder = WorkFolder.create();
  private final Fleet fleet;
  private final Load load;
  private final @Nullable ScheduledLoad scheduled;
  private final Injector injector;
  private final FaultTally faultTally = new FaultTally();

  /** Without duplicates, in the order in which they were found. */
  private final Set<String> problems = Collections.synchronizedSet(new LinkedHashSet<>());

  private final Thread endFleet;

  private Torture(Console console, Load.Settings settings, Function<Path, Fleet> startFleet) {
    this.console = console;
    this.seed = settings.seed();
    this.fleet = startFleet.apply(workFolder.folder());
    this.load =
        Load.start(
            settings, fleet.clientAddresses(), fleet.otherClientAddresses(), workFolder.folder());
    // Recovery is measured under an even load, so without schedules.
    this.scheduled =
        settings.scenarios().equals(Scenarios.ALL)
            ? ScheduledLoad.start(fleet.clientAddresses())
            : null;
    this.injector = new Injector(fleet);
    // Child processes normally end with this process. A paused one would not notice that it ended.
    this.endFleet = new Thread(fleet::stopPrograms, "end-fleet");
    Runtime.getRuntime().addShutdownHook(endFleet);
  }

  /** Starts the fleet and the load, and returns when results arrive. */
  static Torture start(Console console, Load.Settings settings, int servers, int workers) {
    return start(console, settings, folder -> Fleet.start(folder, servers, workers));
  }

  /** Like {@link #start}, with a synchronous standby of PostgreSQL. */
  static Torture startWithStandby(
      Console console, Load.Settings settings, int servers, int workers) {
    return start(console, settings, folder -> Fleet.startWithStandby(folder, servers, workers));
  }

  private static Torture start(
      Console console, Load.Settings settings, Function<Path, Fleet> startFleet) {
    Torture torture = new Torture(console, settings, startFleet);
    torture.warmUp();
    return torture;
  }

  private void warmUp() {
    if (!awaitMoreResults(WARM_UP_RESULTS, WARM_UP_MAX)) {
      problems.add("no results after " + WARM_UP_MAX.toSeconds() + " s without any fault");
      return;
    }
    console.printTimed(
        "%d servers, %d workers, PostgreSQL; in %s"
            .formatted(fleet.servers().size(), fleet.workers().size(), workFolder.folder()));
  }

  /** Waits until the client has received this many more results; false at the time-out. */
  boolean awaitMoreResults(int count, Duration timeout) {
    int enough = load.resultCount() + count;
    long giveUpNanos = System.nanoTime() + timeout.toNanos();
    while (load.resultCount() < enough) {
      if (System.nanoTime() - giveUpNanos > 0) {
        return false;
      }
      Pause.ofUnchecked(Duration.ofMillis(50));
    }
    return true;
  }

  Load load() {
    return load;
  }

  Fleet fleet() {
    return fleet;
  }

  /** Injects all faults at their times and returns when the last is healed. */
  void inject(Plan plan) {
    List<Thread> faults = new ArrayList<>();
    long beganNanos = System.nanoTime();
    for (Fault fault : plan.faults()) {
      long waitNanos = beganNanos + fault.at().toNanos() - System.nanoTime();
      Pause.ofUnchecked(Duration.ofNanos(Math.max(0, waitNanos)));
      faults.add(Thread.ofVirtual().name("fault").start(() -> inject(fault)));
    }
    for (Thread fault : faults) {
      try {
        fault.join();
      } catch (InterruptedException e) {
        throw TortureException.interrupted(e);
      }
    }
  }

  /** Injects one fault and returns when it is healed. */
  void inject(Fault fault) {
    AtomicLong injectedNanos = new AtomicLong();
    try {
      injector.injectAndHeal(
          fault,
          () -> {
            injectedNanos.set(System.nanoTime());
            console.printTimed(fault.toString());
          });
      faultTally.healed(fault.kind(), injectedNanos.get());
    } catch (RuntimeException e) {
      problems.add(fault + " was not healed: " + e.getMessage());
    }
    fleet.endedUnexpectedly().forEach(name -> problems.add(name + " has ended unexpectedly"));
  }

  /** Kills the primary of PostgreSQL and promotes its standby. */
  void failOver() {
    console.printTimed("kill -9 of PostgreSQL, and promotion of its standby");
    try {
      fleet.database().failOver();
    } catch (SQLException e) {
      throw new TortureException("the standby was not promoted: " + e.getMessage(), e);
    }
    console.printTimed("the standby is promoted");
  }

  /** Waits for the end of all runs, checks them, and prints the problems. */
  Verdict finishAndCheck() {
    load.stop();
    if (scheduled != null) {
      scheduled.stop();
    }
    console.printTimed("no more starts; waiting for the runs to end");
    if (!load.awaitResults(END_MAX)) {
      problems.add("not all results were received within " + END_MAX.toSeconds() + " s");
      fleet.dumpThreads();
    }
    problems.addAll(load.errors());
    fleet.endedUnexpectedly().forEach(name -> problems.add(name + " has ended unexpectedly"));
    Evidence evidence = gather();
    problems.addAll(Checker.check(evidence).stream().map(Violation::toString).toList());
    faultTally.table(lastResultNanos()).forEach(console::print);
    List<String> found = List.copyOf(problems);
    found.stream().limit(VIOLATIONS_SHOWN_MAX).forEach(console::print);
    return new Verdict(
        faultTally.count(), evidence.stories().size(), evidence.stepCount(), seed, found);
  }

  void problem(String text) {
    problems.add(text);
  }

  private long lastResultNanos() {
    List<Long> results = load.resultNanos();
    return results.isEmpty() ? 0 : results.getLast();
  }

  /** Also waits for runs without an awaiting client: their start was not acknowledged. */
  private Evidence gather() {
    long giveUpNanos = System.nanoTime() + END_MAX.toNanos();
    try (Connection connection = fleet.database().connect()) {
      while (Tables.unfinished(connection) > 0 && System.nanoTime() - giveUpNanos < 0) {
        Pause.ofUnchecked(Duration.ofMillis(100));
      }
      fleet.stopPrograms();
      if (scheduled != null) {
        problems.addAll(scheduled.problems(connection));
      }
      return Evidence.of(
          Ledger.readAll(workFolder.folder()),
          Tables.runs(connection),
          Tables.steps(connection),
          Tables.signals(connection),
          Tables.published(connection));
    } catch (SQLException e) {
      throw new TortureException("cannot read the tables: " + e.getMessage(), e);
    }
  }

  /** Ends everything. After a failure, keeps the evidence and prints its folder. */
  @Override
  public void close() {
    load.close();
    if (scheduled != null) {
      scheduled.close();
    }
    if (!problems.isEmpty()) {
      dump();
    }
    fleet.close();
    Runtime.getRuntime().removeShutdownHook(endFleet);
    if (problems.isEmpty()) {
      workFolder.delete();
    } else {
      workFolder.keepEvidence();
      console.print("ledgers, logs and tables: " + workFolder.folder());
    }
  }

  private void dump() {
    try (Connection connection = fleet.database().connect()) {
      Tables.dump(connection, workFolder.folder());
    } catch (SQLException e) {
      console.print("the tables could not be dumped: " + e.getMessage());
    }
  }
}
