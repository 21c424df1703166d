package dev.kagzi.server.web.run;

import static dev.kagzi.server.web.run.Timeline.began;

import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.query.StepView;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepStatus;
import dev.kagzi.server.web.page.Show;
import dev.kagzi.server.web.run.TimeScale.Span;
import dev.kagzi.server.web.run.Timeline.Bar;
import dev.kagzi.server.web.run.Timeline.Gap;
import dev.kagzi.server.web.run.Timeline.Mark;
import dev.kagzi.server.web.run.Timeline.Row;
import dev.kagzi.server.web.run.Timeline.Style;
import dev.kagzi.server.web.run.Timeline.Tick;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Computes the picture of one page of steps. */
final class TimelineBuilder {
  private static final int TICKS = 4;
  private static final double WIDTH_MIN = 0.4;

  // Shorter waits are not drawn: they may be no more than the time between two claims.
  private static final double WAIT_WIDTH_MIN = 1;

  /** Whether the page has the first and the last of all steps of the run, and the current time. */
  record Ends(boolean isFirst, boolean isLast, Instant now) {}

  /**
   * A part of a row.
   *
   * @param isWork whether code was executed meanwhile; if not, the run or the branch waited
   */
  private record Piece(Style style, Span time, String title, boolean isWork) {}

  private final RunView run;
  private final StepLinks links;
  private final List<StepView> steps;
  private final Ends ends;
  private final Instant end;
  private final Map<String, List<Piece>> pieces = new LinkedHashMap<>();
  private final Map<String, StepView> lastAttempts = new HashMap<>();

  TimelineBuilder(RunView run, StepLinks links, List<StepView> steps, Ends ends) {
    this.run = run;
    this.links = links;
    this.steps = steps.stream().sorted(Comparator.comparing(Timeline::began)).toList();
    this.ends = ends;
    this.end = end();
    collect();
  }

  private Instant end() {
    Instant finished = run.finishedAt();
    Instant last =
        steps.stream()
            .map(step -> later(began(step), step.finishedAt()))
            .max(Comparator.naturalOrder())
            .orElse(run.createdAt());
    if (!ends.isLast) {
      return last;
    }
    return later(last, finished == null ? ends.now : finished);
  }

  private static Instant later(Instant one, @Nullable Instant other) {
    return other != null && other.isAfter(one) ? other : one;
  }

  private void collect() {
    for (StepView step : steps) {
      String key = step.stepId().stepKey();
      List<Piece> ofStep = pieces.computeIfAbsent(key, none -> new ArrayList<>());
      endRetryWait(ofStep, began(step));
      addAttempt(step, ofStep);
      lastAttempts.put(key, step);
    }
  }

  /** The wait for an attempt ends when it begins, which may be later than it was due. */
  private static void endRetryWait(List<Piece> ofStep, Instant nextBegan) {
    Piece last = ofStep.isEmpty() ? null : ofStep.getLast();
    if (last != null && last.style == Style.RETRY_WAIT) {
      ofStep.removeLast();
      ofStep.add(new Piece(last.style, new Span(last.time.from(), nextBegan), last.title, false));
    }
  }

  private void addAttempt(StepView step, List<Piece> to) {
    Span time = new Span(began(step), endOf(step));
    if (HandOvers.isBegunAgain(step)) {
      Span before = new Span(step.createdAt(), began(step));
      String title =
          StepLabel.of(step) + ": begun, no result was reported; begun again after " + took(before);
      to.add(new Piece(Style.INTERRUPTED, before, title, true));
    }
    Style style = style(step);
    boolean isWork = step.kind() == StepKind.FUNCTION;
    to.add(new Piece(style, time, title(step, style, time), isWork));
    Instant due = step.dueAt();
    if (step.status() == StepStatus.FAILED && !step.isFinal() && due != null) {
      Span wait = new Span(time.to(), due.isBefore(end) ? due : end);
      to.add(new Piece(Style.RETRY_WAIT, wait, "waits for the next attempt", false));
    }
  }

  private Instant endOf(StepView step) {
    Instant finished = step.finishedAt();
    if (finished != null) {
      return finished;
    }
    Instant due = step.dueAt();
    boolean isTimed = step.kind() == StepKind.SLEEP || step.kind() == StepKind.SIGNAL;
    return isTimed && due != null && due.isBefore(end) ? due : end;
  }

  private Style style(StepView step) {
    if (step.status() == StepStatus.FAILED && step.kind() != StepKind.SLEEP) {
      return Style.FAILED;
    }
    return switch (step.kind()) {
      case SLEEP -> Style.SLEEP;
      case SIGNAL -> Style.RECEIVE;
      case CHILD_WORKFLOW -> Style.CHILD;
      case CALLBACK -> Style.COMPLETED;
      case FUNCTION ->
          step.status() == StepStatus.COMPLETED
              ? Style.COMPLETED
              : HandOvers.isInterrupted(run, step) ? Style.INTERRUPTED : Style.RUNNING;
    };
  }

  private static String title(StepView step, Style style, Span time) {
    String attempt = step.attemptNumber() > 1 ? ", attempt " + step.attemptNumber() : "";
    String what =
        style == Style.INTERRUPTED
            ? "begun, no result was reported"
            : style.words() + ", " + took(time);
    return StepLabel.of(step) + attempt + ": " + what;
  }

  private static String took(Span time) {
    return Show.duration(Duration.between(time.from(), time.to()));
  }

  Timeline build() {
    TimeScale scale = new TimeScale(window(), times(true));
    List<Row> rows = new ArrayList<>();
    rows.add(new Row(new StepLabel("", "run"), "", null, bars(scale, ofRun(scale))));
    for (String key : order()) {
      StepView last = lastAttempts.get(key);
      if (last != null) {
        rows.add(
            new Row(
                StepLabel.of(last),
                links.step(last),
                last.childRunId(),
                bars(scale, pieces.getOrDefault(key, List.of()))));
      }
    }
    return new Timeline(scale.window().from(), rows, ticks(scale), gaps(scale), marks(scale));
  }

  private Span window() {
    Instant from =
        ends.isFirst || steps.isEmpty() ? run.createdAt() : earliest(began(steps.getFirst()));
    return new Span(earliest(from), end);
  }

  private Instant earliest(Instant from) {
    return pieces.values().stream()
        .flatMap(List::stream)
        .map(piece -> piece.time.from())
        .filter(time -> time.isBefore(from))
        .min(Comparator.naturalOrder())
        .orElse(from);
  }

  private List<Span> times(boolean isWork) {
    return pieces.values().stream()
        .flatMap(List::stream)
        .filter(piece -> piece.isWork == isWork)
        .map(Piece::time)
        .toList();
  }

  private List<Piece> ofRun(TimeScale scale) {
    RunSegments segments =
        new RunSegments(
            run, end, span -> scale.at(span.to()) - scale.at(span.from()) >= WAIT_WIDTH_MIN);
    for (Piece piece : pieces.values().stream().flatMap(List::stream).toList()) {
      if (!piece.isWork) {
        segments.addWait(piece.time);
      } else if (piece.style != Style.INTERRUPTED) {
        segments.addWork(piece.time);
      } else {
        segments.addInterrupted(piece.time);
      }
    }
    addUntilNextClaim(segments);
    return segments.build().stream()
        .map(one -> new Piece(one.style(), one.time(), titleOfRun(one), one.isWork()))
        .toList();
  }

  /**
   * Adds the intervals between the last recorded step or wait and the first step of the next claim.
   * After a wait, the run was due and waited for a worker. After a completed step, the claim was
   * lost or given back; the exact time is not recorded.
   */
  private void addUntilNextClaim(RunSegments segments) {
    Instant last = null;
    boolean isAfterStep = false;
    int epoch = 0;
    for (StepView step : steps) {
      boolean isNewClaim = step.stepId().epoch() > epoch && !HandOvers.isBegunAgain(step);
      if (last != null && isNewClaim && began(step).isAfter(last)) {
        Span between = new Span(last, began(step));
        if (isAfterStep) {
          segments.addLost(between);
        } else {
          segments.addQueued(between);
        }
      }
      epoch = Math.max(epoch, step.stepId().epoch());
      if (last == null || endOf(step).isAfter(last)) {
        last = endOf(step);
        isAfterStep = step.kind() == StepKind.FUNCTION && step.status() == StepStatus.COMPLETED;
      }
    }
  }

  private String titleOfRun(RunSegments.Segment segment) {
    return switch (segment.style()) {
      case QUEUED, WAITING, EXECUTED -> segment.style().words() + ", " + took(segment.time());
      case INTERRUPTED ->
          "its workers crashed, stopped or gave the run back; when is not recorded, "
              + took(segment.time());
      default -> {
        Instant started = run.startedAt();
        Span all = new Span(started == null ? run.createdAt() : started, segment.time().to());
        yield Show.words(run.status()) + ", " + took(all) + " after its start";
      }
    };
  }

  /** Steps in the order in which they began, except that those of a branch stay together. */
  private List<String> order() {
    Map<String, List<String>> groups = new LinkedHashMap<>();
    for (String key : pieces.keySet()) {
      StepView step = lastAttempts.get(key);
      String branch = step == null ? "" : StepLabel.of(step).outermost();
      String group = branch.isEmpty() ? " " + key : branch;
      groups.computeIfAbsent(group, none -> new ArrayList<>()).add(key);
    }
    return groups.values().stream().flatMap(List::stream).toList();
  }

  private static List<Bar> bars(TimeScale scale, List<Piece> pieces) {
    return pieces.stream().map(piece -> bar(scale, piece)).toList();
  }

  private static Bar bar(TimeScale scale, Piece piece) {
    double from = scale.at(piece.time.from());
    double width = Math.max(WIDTH_MIN, scale.at(piece.time.to()) - from);
    double x = Math.min(from, 100 - width);
    return new Bar(piece.style, TimeScale.percent(x), TimeScale.percent(width), piece.title);
  }

  private static List<Tick> ticks(TimeScale scale) {
    List<Duration> times = new ArrayList<>();
    for (int i = 1; i <= TICKS; i++) {
      times.add(Duration.between(scale.window().from(), scale.timeAt(100.0 * i / TICKS)));
    }
    List<String> labels = AxisLabels.of(times);
    List<Tick> ticks = new ArrayList<>();
    ticks.add(new Tick(TimeScale.percent(0), "start", "0", false));
    for (int i = 1; i <= TICKS; i++) {
      String anchor = i == TICKS ? "end" : "middle";
      String x = TimeScale.percent(100.0 * i / TICKS);
      ticks.add(new Tick(x, anchor, "+" + labels.get(i - 1), i % 2 == 1));
    }
    return ticks;
  }

  private static List<Gap> gaps(TimeScale scale) {
    return scale.shortened().stream()
        .map(
            gap -> {
              double from = scale.at(gap.from());
              double to = scale.at(gap.to());
              return new Gap(
                  TimeScale.percent(from),
                  TimeScale.percent(to - from),
                  TimeScale.percent((from + to) / 2),
                  took(gap));
            })
        .toList();
  }

  private List<Mark> marks(TimeScale scale) {
    List<Mark> marks = new ArrayList<>();
    for (HandOvers.HandOver each :
        new HandOvers(times(false), ends.isFirst).find(steps, run.createdAt())) {
      String at = "+" + Show.duration(Duration.between(scale.window().from(), each.at()));
      String text =
          each.isAttemptOfRun()
              ? at + ": attempt " + each.runAttempt() + " of the run began."
              : at + continued(each.claims());
      marks.add(new Mark(marks.size() + 1, TimeScale.percent(scale.at(each.at())), text));
    }
    return marks;
  }

  private static String continued(int claims) {
    return claims > 1
        ? ": the last of up to "
            + Show.number(claims)
            + " further claims of the run began. The workers before crashed, stopped or gave the"
            + " run back; when is not recorded."
        : ": another claim continued the run. The worker before it crashed, stopped or gave the"
            + " run back.";
  }
}
