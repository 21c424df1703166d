package dev.kagzi.torture;

/** The kinds of faults. */
enum FaultKind {
  KILL_WORKER("kill -9 of a worker", Victim.WORKER, 100, 1_500),
  KILL_SERVER("kill -9 of a server", Victim.SERVER, 100, 1_500),
  KILL_POSTGRES("kill -9 of PostgreSQL", Victim.POSTGRES, 100, 1_000),
  CUT_WORKER("cut: a worker from the servers", Victim.WORKER, 0, 1),
  CUT_POSTGRES("cut: a server from PostgreSQL", Victim.SERVER, 0, 1),
  STALL_WORKER("stall: a worker from the servers", Victim.WORKER, 2_000, 6_000),
  STALL_POSTGRES("stall: a server from PostgreSQL", Victim.SERVER, 2_000, 6_000),
  // Longer than a lease, so that the paused process continues with claims that it has lost.
  PAUSE_WORKER("SIGSTOP of a worker", Victim.WORKER, 4_000, 7_000),
  PAUSE_SERVER("SIGSTOP of a server", Victim.SERVER, 4_000, 7_000);

  /** What a fault is injected into. */
  enum Victim {
    WORKER,
    SERVER,
    POSTGRES
  }

  private final String text;
  private final Victim victim;
  private final int lastsMsMin;
  private final int lastsMsMax;

  FaultKind(String text, Victim victim, int lastsMsMin, int lastsMsMax) {
    this.text = text;
    this.victim = victim;
    this.lastsMsMin = lastsMsMin;
    this.lastsMsMax = lastsMsMax;
  }

  String text() {
    return text;
  }

  Victim victim() {
    return victim;
  }

  /** The minimum time until it is healed. */
  int lastsMsMin() {
    return lastsMsMin;
  }

  /** The time until it is healed is below this. */
  int lastsMsMax() {
    return lastsMsMax;
  }
}
