package dev.kagzi.engine.schedule;

import java.util.ArrayList;
import java.util.List;

/**
 * What becomes of the slots of one schedule that are due. Slots are seconds since 1970.
 *
 * @param slots become runs now, oldest first
 * @param missed become none
 * @param buffered waits for the end of a run; {@link FireTimes#NONE} when none does
 * @param next the first slot that is not decided on; {@link FireTimes#NONE} when there is none
 */
record FirePlan(List<Long> slots, long missed, long buffered, long next) {
  /**
   * A schedule as its lock returned it.
   *
   * @param cursor the first slot that is not decided on
   * @param open a run of it has not ended
   */
  record Due(
      FireTimes slots, Overlap overlap, int maxCatchup, long cursor, long buffered, boolean open) {}

  /**
   * Decides, by at most {@code max} runs. More missed slots than are caught up with: the newest
   * become runs, the others are counted. Slots that are due now, from {@code dueNowFrom} on, become
   * runs even if {@code maxCatchup} is less, or 0.
   */
  static FirePlan of(Due due, long now, long dueNowFrom, int max) {
    if (due.cursor > now) {
      return new FirePlan(List.of(), 0, due.buffered, due.cursor);
    }
    // The cursor is a slot whether the expression names it or not: somebody may have set it.
    long count = 1 + due.slots.count(due.cursor, now);
    long dueNow = due.slots.count(Math.max(due.cursor, dueNowFrom - 1), now);
    long kept =
        Math.min(count, Math.max(due.maxCatchup, due.cursor >= dueNowFrom ? count : dueNow));
    long skipped = count - kept;
    long first = first(due, skipped, kept, now);
    if (due.overlap == Overlap.ALLOW) {
      return all(due, first, now, max, skipped);
    }
    return apart(due, first, kept, skipped, now);
  }

  private static long first(Due due, long skipped, long kept, long now) {
    if (kept == 0) {
      return due.slots.after(now);
    }
    return skipped == 0 ? due.cursor : due.slots.nthAfter(due.cursor, skipped - 1, now);
  }

  private static FirePlan all(Due due, long first, long now, int max, long skipped) {
    List<Long> slots = new ArrayList<>();
    long slot = first;
    while (slot != FireTimes.NONE && slot <= now && slots.size() < max) {
      slots.add(slot);
      slot = due.slots.after(slot);
    }
    return new FirePlan(slots, skipped, due.buffered, slot);
  }

  /** One run at a time: the oldest slot begins, the next may wait, the rest overlap. */
  private static FirePlan apart(Due due, long first, long kept, long skipped, long now) {
    List<Long> slots = new ArrayList<>();
    long buffered = due.buffered;
    boolean free = !due.open;
    if (free && buffered != FireTimes.NONE) {
      slots.add(buffered);
      buffered = FireTimes.NONE;
      free = false;
    }
    long left = kept;
    long slot = first;
    if (free && left > 0) {
      slots.add(slot);
      left--;
      slot = due.slots.after(slot);
    }
    if (left > 0 && due.overlap == Overlap.BUFFER_ONE && buffered == FireTimes.NONE) {
      buffered = slot;
      left--;
    }
    return new FirePlan(slots, skipped + left, buffered, due.slots.after(now));
  }
}
