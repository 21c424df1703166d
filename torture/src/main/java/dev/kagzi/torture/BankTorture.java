package dev.kagzi.torture;

import dev.kagzi.torture.Findings.Violation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.postgresql.PGConnection;

/**
 * A torture test of transactions with the application's own database. The application is a bank.
 * Each transfer is a run with two transactional steps, started in the transaction of its order:
 * through the outbox of the bank's database, or with {@code startIn} in Kagzi's database. Both
 * databases, the servers and the workers are killed. Afterwards every transfer must have been
 * executed exactly once. Used by one thread.
 */
final class BankTorture implements AutoCloseable {
  static final int SERVERS = 2;
  static final int WORKERS = 3;
  static final int TELLERS = 12;
  static final Duration PACE = Duration.ofMillis(100);
  private static final Duration WARM_UP_MAX = Duration.ofSeconds(60);
  private static final int WARM_UP_RUNS = 20;

  /** The longest time without a completed run while some runs are open. */
  private static final Duration STANDSTILL_MAX = Duration.ofMinutes(2);

  private static final int VIOLATIONS_SHOWN_MAX = 50;
  private static final List<String> DUMPED =
      List.of(
          "accounts", "movements", "bank_orders", "bank_approvals", "kagzi_steps", "kagzi_outbox");

  private final Console console;
  private final Settings settings;
  private final WorkFolder workFolder = WorkFolder.create();
  private final BankFleet fleet;
  private final BankTellers tellers;
  private final BankFaults faults;
  private final Set<String> problems = Collections.synchronizedSet(new LinkedHashSet<>());
  private final Thread endFleet;

  /**
   * The size of the test.
   *
   * @param pace the average pause of a teller between two transfers
   */
  record Settings(
      int servers, int workers, int tellers, Duration pace, long seed, BankPlant plant) {
    static Settings of(long seed) {
      return new Settings(SERVERS, WORKERS, TELLERS, PACE, seed, BankPlant.NONE);
    }
  }

  private BankTorture(Console console, Settings settings) {
    this.console = console;
    this.settings = settings;
    this.fleet =
        new BankFleet(workFolder.folder(), settings.servers, settings.workers, settings.plant);
    this.tellers = new BankTellers(fleet, settings.seed, settings.plant == BankPlant.NONE);
    this.faults = new BankFaults(fleet, console);
    // Child processes normally end with this process. A paused one would not notice that it ended.
    this.endFleet = new Thread(fleet::stopPrograms, "end-fleet");
    Runtime.getRuntime().addShutdownHook(endFleet);
  }

  /** Starts the fleet and the tellers, and returns when runs end. */
  static BankTorture start(Console console, Settings settings) {
    BankTorture torture = new BankTorture(console, settings);
    try {
      torture.warmUp();
      return torture;
    } catch (SQLException e) {
      torture.problems.add("not started: " + e.getMessage());
      torture.close();
      throw new TortureException("the bank was not started: " + e.getMessage(), e);
    }
  }

  private void warmUp() throws SQLException {
    BankTables.createInBank(fleet.bank(), tellers.bank());
    BankTables.createBesideKagzi(fleet.kagzi());
    fleet.startAll();
    tellers.start(settings.tellers, settings.pace);
    long giveUpNanos = System.nanoTime() + WARM_UP_MAX.toNanos();
    try (Connection kagzi = fleet.kagzi().connect()) {
      while (completed(kagzi) < WARM_UP_RUNS) {
        if (System.nanoTime() - giveUpNanos > 0) {
          problems.add("no results after " + WARM_UP_MAX.toSeconds() + " s without any fault");
          return;
        }
        Pause.ofUnchecked(Duration.ofMillis(50));
      }
    }
    console.printTimed(
        "%d servers, %d workers, 2 PostgreSQL, %d accounts; in %s"
            .formatted(
                settings.servers, settings.workers, BankTransfer.ACCOUNTS, workFolder.folder()));
  }

  private static int completed(Connection kagzi) throws SQLException {
    try (Statement statement = kagzi.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT count(*) FROM kagzi.workflow_runs WHERE status = 'COMPLETED'")) {
      row.next();
      return row.getInt(1);
    }
  }

  /** Injects faults of all kinds for this time. */
  void injectFor(Duration time) {
    faults.start(settings.seed);
    Pause.ofUnchecked(time);
    faults.stop();
  }

  BankFaults faults() {
    return faults;
  }

  /** Waits for the end of all runs, checks them, and prints the problems. */
  Verdict finishAndCheck() {
    console.printTimed("no more orders; waiting for the runs to end");
    tellers.stop();
    problems.addAll(tellers.errors());
    problems.addAll(faults.problems());
    fleet.endedUnexpectedly().forEach(name -> problems.add(name + " has ended unexpectedly"));
    BankEvidence evidence;
    try (Connection bank = fleet.bank().connect();
        Connection kagzi = fleet.kagzi().connect()) {
      awaitEnd(bank, kagzi);
      fleet.stopPrograms();
      evidence = BankEvidence.read(tellers.outcomes(), bank, kagzi);
    } catch (SQLException e) {
      throw new TortureException("cannot read the tables: " + e.getMessage(), e);
    }
    problems.addAll(BankRules.check(evidence).stream().map(Violation::toString).toList());
    faults.table().forEach(console::print);
    List<String> found = List.copyOf(problems);
    found.stream().limit(VIOLATIONS_SHOWN_MAX).forEach(console::print);
    return new Verdict(
        faults.count(), evidence.runs().size(), evidence.movements().size(), settings.seed, found);
  }

  /**
   * Waits as long as runs complete: a slow machine may take long for the orders that faults
   * delayed.
   */
  private void awaitEnd(Connection bank, Connection kagzi) throws SQLException {
    int completed = completed(kagzi);
    long giveUpNanos = System.nanoTime() + STANDSTILL_MAX.toNanos();
    while (!isOver(bank, kagzi)) {
      int before = completed;
      completed = completed(kagzi);
      if (completed > before) {
        giveUpNanos = System.nanoTime() + STANDSTILL_MAX.toNanos();
      } else if (System.nanoTime() - giveUpNanos > 0) {
        problems.add(
            "not everything has ended, and no run was completed for %d s"
                .formatted(STANDSTILL_MAX.toSeconds()));
        return;
      }
      Pause.ofUnchecked(Duration.ofMillis(200));
    }
  }

  private boolean isOver(Connection bank, Connection kagzi) {
    try {
      return tellers.approveTheRest() == 0 && BankEvidence.isOver(bank, kagzi);
    } catch (SQLException e) {
      // A pooled connection may have been broken by the last fault.
      return false;
    }
  }

  /** Ends everything. After a failure, keeps the evidence and prints its folder. */
  @Override
  public void close() {
    tellers.close();
    if (!problems.isEmpty() && settings.plant == BankPlant.NONE) {
      dump();
    }
    fleet.close();
    Runtime.getRuntime().removeShutdownHook(endFleet);
    if (problems.isEmpty() || settings.plant != BankPlant.NONE) {
      workFolder.delete();
    } else {
      workFolder.keepEvidence();
      console.print("logs and tables: " + workFolder.folder());
    }
  }

  private void dump() {
    Path folder = workFolder.folder();
    try (Connection bank = fleet.bank().connect();
        Connection kagzi = fleet.kagzi().connect()) {
      Tables.dump(kagzi, folder);
      for (String table : DUMPED) {
        try (Writer file = Files.newBufferedWriter(folder.resolve(table + ".csv"))) {
          bank.unwrap(PGConnection.class)
              .getCopyAPI()
              .copyOut("COPY " + table + " TO STDOUT WITH (FORMAT csv, HEADER)", file);
        }
      }
      for (String database : List.of("kagzi", "bank")) {
        Files.copy(
            folder.resolve("postgres").resolve(database).resolve("postgres.log"),
            folder.resolve("postgres-" + database + ".log"),
            StandardCopyOption.REPLACE_EXISTING);
      }
    } catch (SQLException e) {
      console.print("the tables could not be dumped: " + e.getMessage());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
