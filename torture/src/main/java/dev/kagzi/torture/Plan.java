package dev.kagzi.torture;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Random;

/** The faults in the order of their times; the same for the same seed. */
record Plan(List<Fault> faults) {
  private static final int FIRST_MS_MAX = 1_500;
  private static final int GAP_MS_MIN = 2_500;
  private static final int GAP_MS_MAX = 6_500;

  Plan {
    faults = List.copyOf(faults);
  }

  /** Builds rounds in which each kind occurs once, so that short plans contain all kinds too. */
  static Plan random(long seed, Duration length, int servers, int workers) {
    Random random = new Random(seed);
    List<Fault> faults = new ArrayList<>();
    Deque<FaultKind> round = new ArrayDeque<>();
    long atMs = random.nextInt(FIRST_MS_MAX);
    while (atMs < length.toMillis()) {
      if (round.isEmpty()) {
        round = shuffled(random);
      }
      faults.add(fault(Duration.ofMillis(atMs), round.remove(), random, servers, workers));
      atMs += random.nextInt(GAP_MS_MIN, GAP_MS_MAX);
    }
    return new Plan(faults);
  }

  private static Deque<FaultKind> shuffled(Random random) {
    List<FaultKind> kinds = Arrays.asList(FaultKind.values());
    Collections.shuffle(kinds, random);
    return new ArrayDeque<>(kinds);
  }

  private static Fault fault(Duration at, FaultKind kind, Random random, int servers, int workers) {
    int targets =
        switch (kind.victim()) {
          case WORKER -> workers;
          case SERVER -> servers;
          case POSTGRES -> 1;
        };
    int lastsMs = random.nextInt(kind.lastsMsMin(), kind.lastsMsMax());
    return new Fault(at, kind, random.nextInt(targets), Duration.ofMillis(lastsMs));
  }
}
