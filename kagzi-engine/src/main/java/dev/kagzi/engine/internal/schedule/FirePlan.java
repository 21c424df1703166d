package dev.kagzi.engine.internal.schedule;

import dev.kagzi.engine.schedule.Overlap;
import java.util.ArrayList;
import java.util.List;

/**
 * The decision on the due slots of one schedule. Slots are seconds since 1970.
 *
 * @param slots slots that become runs now, oldest first
 * @param missed number of slots that become no run
 * @param buffered slot that waits for the end of a run; {@link FireTimes#NONE} if none does
 * @param next the first undecided slot; {@link FireTimes#NONE} if there is none
 */
record FirePlan(List<Long> slots, long missed, long buffered, long next) {
  /**
   * A locked schedule.
   *
   * @param nextSlot the first undecided slot
   * @param open whether one of its runs has not ended; false if runs may overlap
   */
  record Due(
      FireTimes slots,
      Overlap overlap,
      int maxCatchup,
      long nextSlot,
      long buffered,
      boolean open) {}

  /**
   * Decides on at most {@code max} runs. Keeps the newest {@code maxCatchup} slots, and at least
   * all slots from {@code dueNowFrom} on, which are not late; older ones are missed. The overlap
   * policy decides which of the kept slots become runs.
   */
  static FirePlan of(Due due, long now, long dueNowFrom, int max) {
    if (due.nextSlot > now) {
      return new FirePlan(List.of(), 0, due.buffered, due.nextSlot);
    }
    // The next slot counts even if the expression does not match it: a user may have set it.
    long count = 1 + due.slots.count(due.nextSlot, now);
    long dueNow = due.slots.count(Math.max(due.nextSlot, dueNowFrom - 1), now);
    long kept =
        Math.min(count, Math.max(due.maxCatchup, due.nextSlot >= dueNowFrom ? count : dueNow));
    long skipped = count - kept;
    long first = first(due, skipped, kept, now);
    if (due.overlap == Overlap.ALLOW) {
      return overlapping(due, first, now, max, skipped);
    }
    return oneAtATime(due, first, kept, skipped, now);
  }

  private static long first(Due due, long skipped, long kept, long now) {
    if (kept == 0) {
      return due.slots.after(now);
    }
    return skipped == 0 ? due.nextSlot : due.slots.nthAfter(due.nextSlot, skipped - 1, now);
  }

  private static FirePlan overlapping(Due due, long first, long now, int max, long skipped) {
    List<Long> slots = new ArrayList<>();
    long slot = first;
    while (slot != FireTimes.NONE && slot <= now && slots.size() < max) {
      slots.add(slot);
      slot = due.slots.after(slot);
    }
    return new FirePlan(slots, skipped, due.buffered, slot);
  }

  /**
   * If no run is open, the buffered slot or else the oldest kept slot becomes a run. With {@code
   * BUFFER_ONE} the next slot is buffered, if none is. The others are missed.
   */
  private static FirePlan oneAtATime(Due due, long first, long kept, long skipped, long now) {
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
