package dev.kagzi.engine.dispatch;

/**
 * Runs of one type that may be due and that nobody has taken: at most so many as were told of since
 * the last look that came back short, or nobody knows how many. Guarded by its gate's lock.
 */
final class Backlog {
  private boolean unknown = true;
  private long unknownSaid;
  private int untaken;
  private long said;
  private long lowUs;

  boolean isPossible() {
    return unknown || untaken > 0;
  }

  /** Whether {@link #untaken} says how many there are at most. */
  boolean isKnown() {
    return !unknown;
  }

  int untaken() {
    return untaken;
  }

  /** How often something was told. */
  long said() {
    return said;
  }

  /** One more is due. */
  void tell() {
    said++;
    untaken++;
  }

  void tellUnknown() {
    said++;
    unknown = true;
    unknownSaid = said;
  }

  /** A look goes for so many at most; answers how many of them it covers. */
  int cover(int most) {
    int covered = Math.min(untaken, most);
    untaken -= covered;
    return covered;
  }

  /** A look came back short: what was told before it is gone, what was told since may not be. */
  void drained(long saidBefore) {
    unknown = unknown && unknownSaid > saidBefore;
    untaken = (int) Math.min(Integer.MAX_VALUE, said - saidBefore);
  }

  /** A look does not tell what is left: it was not allowed more, or found all that it went for. */
  void stays() {
    unknown = true;
  }

  /** Due times below this have all been taken. */
  long lowUs() {
    return lowUs;
  }

  void takenBelow(long us) {
    lowUs = us;
  }
}
