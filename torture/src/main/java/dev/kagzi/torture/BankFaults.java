package dev.kagzi.torture;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Kills, pauses and cuts off the processes of the bank. Each victim has its own thread, so faults
 * of different victims overlap; the seed fixes the kinds and the pauses. Used by one thread.
 */
final class BankFaults {
  private static final int EVERY_MS_MIN = 2_000;
  private static final int EVERY_MS_MAX = 9_000;

  /**
   * The pauses between two faults of a database are longer than those of a process, so that servers
   * can start in between, also on a busy machine.
   */
  private static final int DATABASE_EVERY_MS_MIN = 7_000;

  private static final int DATABASE_EVERY_MS_MAX = 15_000;
  private static final Duration STEP = Duration.ofMillis(100);

  private final BankFleet fleet;
  private final Console console;
  private final List<Thread> injectors = new ArrayList<>();
  private final Map<Kind, Integer> counts = new EnumMap<>(Kind.class);
  private final ReentrantLock lock = new ReentrantLock();
  private final Queue<String> problems = new ConcurrentLinkedQueue<>();
  private volatile boolean stopped;

  /** The kinds of faults. */
  enum Kind {
    KILL_KAGZI_DATABASE("kill -9 of Kagzi's PostgreSQL"),
    KILL_BANK_DATABASE("kill -9 of the bank's PostgreSQL"),
    KILL_SERVER("kill -9 of a server"),
    PAUSE_SERVER("SIGSTOP of a server"),
    CUT_SERVER("cut: a server from its PostgreSQL"),
    KILL_WORKER("kill -9 of a worker"),
    PAUSE_WORKER("SIGSTOP of a worker"),
    CUT_WORKER("cut: a worker from the servers"),
    CUT_WORKER_FROM_BANK("cut: a worker from the bank's PostgreSQL"),
    STALL_WORKER_FROM_BANK("stall: a worker from the bank's PostgreSQL"),
    CUT_TELLERS("cut: the tellers from both PostgreSQL");

    private final String text;

    Kind(String text) {
      this.text = text;
    }
  }

  /** The faults of a server, in order. Each server begins at another position of the list. */
  private static final List<Kind> OF_SERVERS =
      List.of(Kind.KILL_SERVER, Kind.PAUSE_SERVER, Kind.CUT_SERVER);

  private static final List<Kind> OF_WORKERS =
      List.of(
          Kind.KILL_WORKER,
          Kind.PAUSE_WORKER,
          Kind.CUT_WORKER_FROM_BANK,
          Kind.KILL_WORKER,
          Kind.STALL_WORKER_FROM_BANK,
          Kind.CUT_WORKER);

  BankFaults(BankFleet fleet, Console console) {
    this.fleet = fleet;
    this.console = console;
  }

  /** Injects faults into everything until {@link #stop}. */
  void start(long seed) {
    Random seeds = new Random(seed);
    for (int i = 0; i < fleet.servers().size(); i++) {
      injector(rotated(OF_SERVERS, i), i, seeds.nextLong(), EVERY_MS_MIN, EVERY_MS_MAX);
    }
    for (int i = 0; i < fleet.workers().size(); i++) {
      injector(rotated(OF_WORKERS, i), i, seeds.nextLong(), EVERY_MS_MIN, EVERY_MS_MAX);
    }
    for (Kind kind : List.of(Kind.KILL_BANK_DATABASE, Kind.KILL_KAGZI_DATABASE, Kind.CUT_TELLERS)) {
      injector(List.of(kind), 0, seeds.nextLong(), DATABASE_EVERY_MS_MIN, DATABASE_EVERY_MS_MAX);
    }
  }

  private static List<Kind> rotated(List<Kind> kinds, int first) {
    List<Kind> rotated = new ArrayList<>(kinds.subList(first % kinds.size(), kinds.size()));
    rotated.addAll(kinds.subList(0, first % kinds.size()));
    return rotated;
  }

  private void injector(List<Kind> kinds, int target, long seed, int everyMsMin, int everyMsMax) {
    injectors.add(
        Thread.ofVirtual()
            .name("injector")
            .start(
                () -> {
                  Random random = new Random(seed);
                  for (int i = 0; pause(random.nextInt(everyMsMin, everyMsMax)); i++) {
                    inject(kinds.get(i % kinds.size()), target, random.nextInt(1_000));
                  }
                }));
  }

  /** Returns false if no more faults are wanted. */
  private boolean pause(int ms) {
    long untilNanos = System.nanoTime() + Duration.ofMillis(ms).toNanos();
    while (!stopped && System.nanoTime() - untilNanos < 0) {
      Pause.ofUnchecked(STEP);
    }
    return !stopped;
  }

  /**
   * Injects one fault and returns when it is healed.
   *
   * @param lot from 0 to 999; a larger value makes a kill, pause or stall last longer
   */
  void inject(Kind kind, int target, int lot) {
    try {
      console.printTimed(kind.text + " (" + (target + 1) + ")");
      switch (kind) {
        case KILL_KAGZI_DATABASE -> kill(fleet.kagzi(), lot);
        case KILL_BANK_DATABASE -> kill(fleet.bank(), lot);
        case KILL_SERVER -> {
          fleet.servers().get(target).process().kill();
          Pause.ofUnchecked(Duration.ofMillis(lot));
          fleet.startServer(target);
        }
        case PAUSE_SERVER -> pause(fleet.servers().get(target).process(), lot);
        case CUT_SERVER -> fleet.servers().get(target).toDatabase().cut();
        case KILL_WORKER -> {
          JavaProcess worker = fleet.workers().get(target).process();
          worker.kill();
          Pause.ofUnchecked(Duration.ofMillis(lot));
          worker.start();
        }
        case PAUSE_WORKER -> pause(fleet.workers().get(target).process(), lot);
        case CUT_WORKER -> fleet.workers().get(target).toServers().forEach(Link::cut);
        case CUT_WORKER_FROM_BANK -> fleet.workers().get(target).toBank().cut();
        case STALL_WORKER_FROM_BANK -> stall(fleet.workers().get(target).toBank(), lot);
        case CUT_TELLERS -> {
          fleet.tellersToBank().cut();
          fleet.tellersToKagzi().cut();
        }
      }
      count(kind);
    } catch (RuntimeException e) {
      problems.add(kind.text + " was not healed: " + e.getMessage());
    }
  }

  /** Longer than a lease, so that the paused process continues with claims that it has lost. */
  private static void pause(JavaProcess process, int lot) {
    process.signal(UnixSignal.STOP);
    Pause.ofUnchecked(Duration.ofMillis(4_000 + 3L * lot));
    process.signal(UnixSignal.CONT);
  }

  private static void stall(Link link, int lot) {
    link.stall();
    Pause.ofUnchecked(Duration.ofMillis(2_000 + 4L * lot));
    link.flow();
  }

  private void kill(Database database, int lot) {
    database.lock().lock();
    try {
      database.kill();
      Pause.ofUnchecked(Duration.ofMillis(lot));
      fleet.restart(database);
    } finally {
      database.lock().unlock();
    }
  }

  private void count(Kind kind) {
    lock.lock();
    try {
      counts.merge(kind, 1, Integer::sum);
    } finally {
      lock.unlock();
    }
  }

  /** Injects no more faults, and returns when all are healed. */
  void stop() {
    stopped = true;
    for (Thread injector : injectors) {
      try {
        injector.join();
      } catch (InterruptedException e) {
        throw TortureException.interrupted(e);
      }
    }
  }

  int count() {
    lock.lock();
    try {
      return counts.values().stream().mapToInt(Integer::intValue).sum();
    } finally {
      lock.unlock();
    }
  }

  /** One line for each kind that occurred, for people. */
  List<String> table() {
    List<String> lines = new ArrayList<>();
    lock.lock();
    try {
      counts.forEach((kind, count) -> lines.add("%-46s %6d".formatted(kind.text, count)));
    } finally {
      lock.unlock();
    }
    return lines;
  }

  List<String> problems() {
    return List.copyOf(problems);
  }
}
