package dev.kagzi.server.web.overview;

import dev.kagzi.engine.query.Activity;
import dev.kagzi.engine.query.Activity.Minute;
import dev.kagzi.server.web.page.Show;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToLongFunction;

/**
 * The runs per minute of the last hour, as lines of a picture.
 *
 * @param max the number at the top
 * @param lines started, completed and failed, as points of a polyline
 * @param summary the same in words, for readers who do not see the picture
 */
public record RateChart(long max, List<Line> lines, String summary, String from, String to) {
  static final int WIDTH = 720;
  static final int HEIGHT = 140;

  /** One line with its style and its sum. */
  public record Line(String name, String style, String points, long sum) {}

  public RateChart {
    lines = List.copyOf(lines);
  }

  static RateChart of(Activity activity) {
    List<Minute> minutes = activity.minutes();
    long max = 1;
    for (Minute minute : minutes) {
      max = Math.max(max, Math.max(minute.started(), minute.completed() + minute.failed()));
    }
    long top = roundUp(max);
    List<Line> lines = new ArrayList<>();
    lines.add(line("started", "running", minutes, Minute::started, top));
    lines.add(line("completed", "completed", minutes, Minute::completed, top));
    lines.add(line("failed", "failed", minutes, Minute::failed, top));
    return new RateChart(
        top,
        lines,
        summary(lines),
        Show.absolute(minutes.getFirst().at()).substring(11, 16),
        Show.absolute(minutes.getLast().at()).substring(11, 16));
  }

  private static Line line(
      String name, String style, List<Minute> minutes, ToLongFunction<Minute> number, long top) {
    StringBuilder points = new StringBuilder();
    long sum = 0;
    for (int i = 0; i < minutes.size(); i++) {
      long value = number.applyAsLong(minutes.get(i));
      sum += value;
      double x = (double) WIDTH * i / Math.max(1, minutes.size() - 1);
      double y = HEIGHT - (double) HEIGHT * value / top;
      points.append(String.format(Locale.ROOT, "%s%.1f,%.1f", i == 0 ? "" : " ", x, y));
    }
    return new Line(name, style, points.toString(), sum);
  }

  private static String summary(List<Line> lines) {
    StringBuilder text = new StringBuilder("Runs in the last hour:");
    for (Line line : lines) {
      text.append(' ').append(Show.number(line.sum())).append(' ').append(line.name()).append(';');
    }
    return text.substring(0, text.length() - 1) + ".";
  }

  /** Returns 1, 2 or 5 times a power of ten, so that the top of the picture is a round number. */
  static long roundUp(long number) {
    long power = 1;
    while (power * 10 <= number) {
      power *= 10;
    }
    for (long factor : new long[] {1, 2, 5}) {
      if (factor * power >= number) {
        return factor * power;
      }
    }
    return 10 * power;
  }

  public int width() {
    return WIDTH;
  }

  public int height() {
    return HEIGHT;
  }
}
