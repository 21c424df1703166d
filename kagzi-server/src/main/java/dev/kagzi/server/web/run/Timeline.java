package dev.kagzi.server.web.run;

import dev.kagzi.engine.query.StepView;
import dev.kagzi.engine.value.RunId;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The picture of one page of steps over time, as numbers and texts. A row is a step with all of its
 * attempts; steps of a parallel branch are next to each other.
 *
 * @param from the time at the left end
 * @param gaps intervals without work that are drawn shorter than they were
 * @param marks hand-overs to another claim, and attempts of the run
 */
public record Timeline(
    Instant from, List<Row> rows, List<Tick> ticks, List<Gap> gaps, List<Mark> marks) {
  private static final int ROW_HEIGHT = 24;
  private static final int AXIS_HEIGHT = 24;

  /** What a bar stands for. */
  public enum Style {
    QUEUED("waits for a worker", true),
    WAITING("waits for a sleep, a signal, a child or the next attempt", true),
    EXECUTED("executed by a worker", false),
    COMPLETED("completed", false),
    FAILED("failed", false),
    RUNNING("running", false),
    INTERRUPTED("interrupted", true),
    SLEEP("sleep", true),
    RECEIVE("wait for a signal", true),
    RETRY_WAIT("wait for the next attempt", true),
    CHILD("child run", false);

    private final String words;
    private final boolean isWait;

    Style(String words, boolean isWait) {
      this.words = words;
      this.isWait = isWait;
    }

    public String words() {
      return words;
    }

    /** Returns the text of the legend. */
    public String legend() {
      return this == INTERRUPTED
          ? "interrupted: no result was reported, and until when workers had it is not recorded"
          : words;
    }
  }

  /** A bar; x and width are percentages. */
  public record Bar(Style style, String x, String width, String title) {}

  /**
   * A step. The first row is the run itself and has no href.
   *
   * @param child the run that the step started; null for none
   */
  public record Row(StepLabel label, String href, @Nullable RunId child, List<Bar> bars) {
    public Row {
      bars = List.copyOf(bars);
    }
  }

  /** A line of the axis; the label of a minor one is left out on a small screen. */
  public record Tick(String x, String anchor, String label, boolean isMinor) {}

  public record Gap(String x, String width, String middle, String label) {}

  /** A vertical line; its number leads to its text below the picture. */
  public record Mark(int number, String x, String text) {}

  public Timeline {
    rows = List.copyOf(rows);
    ticks = List.copyOf(ticks);
    gaps = List.copyOf(gaps);
    marks = List.copyOf(marks);
  }

  public int y(int row) {
    return AXIS_HEIGHT + row * ROW_HEIGHT;
  }

  public int height() {
    return y(rows.size()) + (marks.isEmpty() && gaps.isEmpty() ? 4 : 20);
  }

  /** Waits are thin lines, so that work stands out. */
  public int thickness(Bar bar) {
    return bar.style.isWait ? 4 : 14;
  }

  /** Returns the thickness of the sample in the legend, which is 10 high. */
  public int sample(Style style) {
    return style.isWait ? 4 : 10;
  }

  public int inset(Bar bar) {
    return (ROW_HEIGHT - thickness(bar)) / 2;
  }

  /** Returns the styles that the picture has, for its legend. */
  public Set<Style> styles() {
    Set<Style> used = EnumSet.noneOf(Style.class);
    rows.forEach(row -> row.bars.forEach(bar -> used.add(bar.style)));
    return used;
  }

  static Instant began(StepView step) {
    Instant started = step.startedAt();
    return started == null ? step.createdAt() : started;
  }
}
