package dev.kagzi.engine.internal.dispatch;

/**
 * How many runs of one type and version may be due and not yet claimed: an upper bound, or unknown.
 * Events that announce due runs raise it. A claim query lowers it by the runs that it has slots
 * for; a query that leaves no due run behind resets it. Guarded by its queue's lock.
 */
final class Backlog {
  private boolean unknown = true;
  private long unknownSince;
  private int runsMax;
  private long announcements;
  private int claimQueries;
  private long lowUs;

  boolean isPossible() {
    return unknown || runsMax > 0;
  }

  /** Whether all due runs are claimed, and not only about to be claimed by a query. */
  boolean isClaimed() {
    return !isPossible() && claimQueries == 0;
  }

  void queryBegun() {
    claimQueries++;
  }

  void queryEnded() {
    claimQueries--;
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

  /** Records that at most this many more runs are due; 0: an unknown number. */
  void announce(int runs) {
    if (runs == 0) {
      announceUnknown();
      return;
    }
    announcements += runs;
    runsMax = (int) Math.min(Integer.MAX_VALUE, (long) runsMax + runs);
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
   * A claim query has claimed all runs that were due. Only runs that were announced after the query
   * was prepared may still be unclaimed.
   *
   * @param announcementsBefore {@link #announcements} when the query was prepared
   */
  void drained(long announcementsBefore) {
    unknown = unknown && unknownSince > announcementsBefore;
    runsMax = (int) Math.min(Integer.MAX_VALUE, announcements - announcementsBefore);
  }

  /** A claim query reached a limit or filled all its slots, so due runs may be left. */
  void mayBeMore() {
    unknown = true;
  }

  /** The low-water mark, in microseconds since 1970: claim queries begin at this due time. */
  long lowUs() {
    return lowUs;
  }

  void setLowUs(long us) {
    lowUs = us;
  }
}
