package dev.kagzi.server.web.run;

import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.server.web.run.TimeScale.Span;
import dev.kagzi.server.web.run.Timeline.Style;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;

/**
 * When a run waited for a worker, when it was executed, and when it waited for something else. The
 * run waits while a wait is open and none of its steps is executed.
 */
final class RunSegments {

  /** A part of the run's row. */
  record Segment(Style style, Span time) {
    boolean isWork() {
      return style != Style.QUEUED && style != Style.WAITING && style != Style.INTERRUPTED;
    }
  }

  private final RunView run;
  private final Instant end;
  private final Predicate<Span> isLong;
  private final List<Span> work = new ArrayList<>();
  private final List<Span> waits = new ArrayList<>();
  private final List<Span> queued = new ArrayList<>();
  private final List<Span> lost = new ArrayList<>();
  private final List<Segment> segments = new ArrayList<>();

  /**
   * Creates the segments of a run.
   *
   * @param end the right end of the picture
   * @param isLong whether a wait is long enough to be drawn
   */
  RunSegments(RunView run, Instant end, Predicate<Span> isLong) {
    this.run = run;
    Instant finished = run.finishedAt();
    this.end = finished == null ? end : finished;
    this.isLong = isLong;
  }

  /** Adds an interval in which a step was executed. */
  void addWork(Span span) {
    work.add(span);
  }

  /** Adds an interval of a sleep, or of a wait for a signal, a child or the next attempt. */
  void addWait(Span span) {
    waits.add(span);
  }

  /**
   * Adds the interval from the beginning of a step that reported no result until the step began
   * again, or until now.
   */
  void addInterrupted(Span span) {
    work.add(new Span(span.from(), span.from()));
    lost.add(span);
  }

  /** Adds an interval in which a claim was lost or given back; the exact time is not recorded. */
  void addLost(Span span) {
    lost.add(span);
  }

  /** Adds an interval between a wait and the next claim. */
  void addQueued(Span span) {
    queued.add(span);
  }

  List<Segment> build() {
    Instant started = run.startedAt();
    add(Style.QUEUED, new Span(run.createdAt(), started == null ? end : started));
    if (started != null) {
      Instant last = lastKnown(started);
      Instant known = isWaitingNow() ? last : end;
      boolean isLost = run.crashes() > 0 && run.status() != RunStatus.SLEEPING;
      if (isLost) {
        lost.add(new Span(last, end));
      }
      execution(new Span(started, known));
      add(isWaitingNow() && isLostAt(known) ? Style.INTERRUPTED : tail(), new Span(known, end));
    }
    return segments;
  }

  private boolean isLostAt(Instant time) {
    return lost.stream().anyMatch(span -> !span.from().isAfter(time) && span.to().isAfter(time));
  }

  private boolean isWaitingNow() {
    return !run.status().isFinal() && run.status() != RunStatus.RUNNING;
  }

  /**
   * Returns the end of the last recorded step or wait. Ignores steps that a RUNNING run still
   * executes.
   */
  private Instant lastKnown(Instant started) {
    List<Span> all = new ArrayList<>(work);
    all.removeIf(span -> run.status() == RunStatus.RUNNING && !span.to().isBefore(end));
    all.addAll(waits);
    Instant last = all.stream().map(Span::to).max(Comparator.naturalOrder()).orElse(started);
    last = last.isBefore(started) ? started : last;
    return last.isAfter(end) ? end : last;
  }

  /**
   * Returns what the run does since its last step. It waits for a worker if its wake-up time has
   * passed, or if it is PENDING without a wake-up time.
   */
  private Style tail() {
    Instant wakeUp = run.wakeUpAt();
    boolean isDue = wakeUp == null ? run.status() == RunStatus.PENDING : !wakeUp.isAfter(end);
    return isDue ? Style.QUEUED : Style.WAITING;
  }

  private void execution(Span all) {
    Instant at = all.from();
    for (Segment pause : pauses(all)) {
      add(Style.EXECUTED, new Span(at, pause.time.from()));
      add(pause.style, pause.time);
      at = pause.time.to();
    }
    Span rest = new Span(at, all.to());
    if (run.status().isFinal()) {
      segments.add(new Segment(ofStatus(), rest));
      segments.replaceAll(
          one -> one.style == Style.EXECUTED ? new Segment(ofStatus(), one.time) : one);
    } else {
      add(ofStatus(), rest);
    }
  }

  private void add(Style style, Span time) {
    if (time.seconds() > 0) {
      segments.add(new Segment(style, time));
    }
  }

  private Style ofStatus() {
    return switch (run.status()) {
      case COMPLETED -> Style.COMPLETED;
      case FAILED, TIMED_OUT, CANCELLED -> Style.FAILED;
      case RUNNING -> Style.RUNNING;
      case PENDING, SLEEPING, SCHEDULED, PAUSED -> Style.EXECUTED;
    };
  }

  /** Returns when the run was not executed, in the order of time. */
  private List<Segment> pauses(Span within) {
    List<Segment> pauses = new ArrayList<>();
    waiting(within).forEach(span -> pauses.add(new Segment(Style.WAITING, span)));
    queued.stream()
        .filter(span -> !span.from().isBefore(within.from()) && !span.to().isAfter(within.to()))
        .filter(isLong)
        .forEach(span -> pauses.add(new Segment(Style.QUEUED, span)));
    List<Span> known = new ArrayList<>(work);
    known.addAll(waits);
    known.addAll(queued);
    for (Span span : without(merged(lost), within, merged(known))) {
      pauses.add(new Segment(Style.INTERRUPTED, span));
    }
    pauses.sort(Comparator.comparing(pause -> pause.time.from()));
    return pauses;
  }

  /** Returns the intervals in which something was waited for and nothing was executed. */
  private List<Span> waiting(Span within) {
    return without(merged(waits), within, merged(work)).stream().filter(isLong).toList();
  }

  /** Returns the parts of some spans that are within another and in none of the excluded ones. */
  private static List<Span> without(List<Span> spans, Span within, List<Span> excluded) {
    List<Span> found = new ArrayList<>();
    for (Span span : spans) {
      Instant at = later(span.from(), within.from());
      Instant to = earlier(span.to(), within.to());
      for (Span other : excluded) {
        if (other.to().isAfter(at) && other.from().isBefore(to)) {
          found.add(new Span(at, other.from()));
          at = later(at, other.to());
        }
      }
      found.add(new Span(at, to));
    }
    return found.stream().filter(span -> span.seconds() > 0).toList();
  }

  private static List<Span> merged(List<Span> spans) {
    List<Span> merged = new ArrayList<>();
    for (Span span : spans.stream().sorted(Comparator.comparing(Span::from)).toList()) {
      Span last = merged.isEmpty() ? null : merged.getLast();
      if (last != null && !span.from().isAfter(last.to())) {
        merged.removeLast();
        merged.add(new Span(last.from(), later(last.to(), span.to())));
      } else {
        merged.add(span);
      }
    }
    return merged;
  }

  private static Instant later(Instant one, Instant other) {
    return one.isAfter(other) ? one : other;
  }

  private static Instant earlier(Instant one, Instant other) {
    return one.isBefore(other) ? one : other;
  }
}
