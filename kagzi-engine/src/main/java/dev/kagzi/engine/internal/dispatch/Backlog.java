package dev.kagzi.engine.internal.dispatch;

/**
 * How many runs of one type may be due and not yet claimed: an upper bound, or unknown. Events that
 * announce due runs raise it; a claim query that finds fewer runs than it has slots resets it.
 * Guarded by its queue's lock.
 */
final class Backlog {
  private boolean unknown = true;
  private long unknownSince;
  private int runsMax;
  private long announcements;
  private long lowUs;

  boolean isPossible() {
    return unknown || runsMax > 0;
  }

  boolean isBounded() {
    return !unknown;
  }

  int runsMax() {
    return runsMax;
  }

  long announcements() {
    return announcements;
  }

  void announceOne() {
    announcements++;
    runsMax++;
  }

  void announceUnknown() {
    announcements++;
    unknown = true;
    unknownSince = announcements;
  }

  /** Subtracts runs that a claim query has slots for; returns how many, at most {@code slots}. */
  int subtract(int slots) {
    int covered = Math.min(runsMax, slots);
    runsMax -= covered;
    return covered;
  }

  /**
   * A claim query left no due run behind. Only runs that were announced while it was in flight may
   * be left.
   *
   * @param announcementsBefore {@link #announcements} when the query was prepared
   */
  void drained(long announcementsBefore) {
    unknown = unknown && unknownSince > announcementsBefore;
    runsMax = (int) Math.min(Integer.MAX_VALUE, announcements - announcementsBefore);
  }

  /**
   * A claim query may have left due runs behind: a limit stopped it, or it filled all its slots.
   */
  void mayBeMore() {
    unknown = true;
  }

  /** All runs with a due time below this have been claimed. */
  long lowUs() {
    return lowUs;
  }

  void setLowUs(long us) {
    lowUs = us;
  }
}
