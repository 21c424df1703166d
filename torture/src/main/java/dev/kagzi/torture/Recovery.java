package dev.kagzi.torture;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Measures how long throughput takes to recover after one fault of each kind. */
final class Recovery {
  private static final int CALLERS = 100;
  private static final Duration PACE = Duration.ofSeconds(1);
  private static final Duration BEFORE = Duration.ofSeconds(12);
  private static final Duration EVERY = Duration.ofSeconds(30);
  private static final Duration BACK_MAX = Duration.ofSeconds(10);
  private static final Duration BACK_POSTGRES_MAX = Duration.ofSeconds(20);

  private final Torture torture;
  private final Console console;

  private Recovery(Torture torture, Console console) {
    this.torture = torture;
    this.console = console;
  }

  static Verdict measure(Console console, long seed, int servers) {
    Load.Settings load = new Load.Settings(List.of(Scenarios.STEADY), seed, CALLERS, PACE);
    try (Torture torture = Torture.start(console, load, servers, Torture.WORKERS)) {
      Recovery recovery = new Recovery(torture, console);
      Pause.ofUnchecked(BEFORE);
      for (FaultKind kind : FaultKind.values()) {
        recovery.measure(recovery.fault(kind));
      }
      return torture.finishAndCheck();
    }
  }

  /** Measures the promotion of a synchronous standby after the primary was killed. */
  static Verdict measureFailover(Console console, long seed, int servers) {
    Load.Settings load = new Load.Settings(List.of(Scenarios.STEADY), seed, CALLERS, PACE);
    try (Torture torture = Torture.startWithStandby(console, load, servers, Torture.WORKERS)) {
      Recovery recovery = new Recovery(torture, console);
      Pause.ofUnchecked(BEFORE);
      long beganNanos = System.nanoTime();
      torture.failOver();
      recovery.await(beganNanos, "kill -9 of PostgreSQL and promotion of its standby", BACK_MAX);
      return torture.finishAndCheck();
    }
  }

  /**
   * The shortest fault of this kind that plans contain. Its victim is a process that the client
   * uses now.
   */
  private Fault fault(FaultKind kind) {
    int target =
        switch (kind.victim()) {
          case SERVER -> torture.fleet().serverOfClient();
          case WORKER -> torture.fleet().workerOfClient();
          case POSTGRES -> 0;
        };
    return new Fault(Duration.ZERO, kind, target, Duration.ofMillis(kind.lastsMsMin()));
  }

  private void measure(Fault fault) {
    long beganNanos = System.nanoTime();
    torture.inject(fault);
    await(beganNanos, fault.kind().text(), max(fault.kind()));
  }

  private void await(long beganNanos, String fault, Duration max) {
    Pause.ofUnchecked(EVERY.minusNanos(System.nanoTime() - beganNanos));
    Throughput throughput = Throughput.of(torture.load().resultNanos());
    Optional<Duration> back = throughput.recovery(beganNanos, System.nanoTime());
    String text =
        "%s: %s (%.0f runs/s before; bound %s)"
            .formatted(
                fault,
                back.map(time -> "back after " + Console.seconds(time)).orElse("not back in time"),
                throughput.rateBefore(beganNanos),
                Console.seconds(max));
    console.printTimed("  " + text);
    if (back.isEmpty() || back.get().compareTo(max) > 0) {
      torture.problem("recovery: " + text);
    }
  }

  private static Duration max(FaultKind kind) {
    return switch (kind) {
      case KILL_POSTGRES, CUT_POSTGRES, STALL_POSTGRES -> BACK_POSTGRES_MAX;
      case KILL_WORKER, KILL_SERVER, CUT_WORKER, STALL_WORKER, PAUSE_WORKER, PAUSE_SERVER ->
          BACK_MAX;
    };
  }
}
