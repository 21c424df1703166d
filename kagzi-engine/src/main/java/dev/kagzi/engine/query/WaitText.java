package dev.kagzi.engine.query;

import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.WorkerId;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Writes times, errors, lists and commands for people.
 *
 * @param namespace of the explained run
 */
record WaitText(Instant now, String namespace) {
  /** How many items of a list a sentence names. */
  static final int NAMED_MAX = 10;

  private static final int ERROR_CHARS_MAX = 300;

  /** The namespace that the command line uses if none is given. */
  private static final String DEFAULT_NAMESPACE = "default";

  /** A command that can be copied: it names the namespace if that is not the default one. */
  String command(String command) {
    return namespace.equals(DEFAULT_NAMESPACE)
        ? "`kagzi " + command + "`"
        : "`kagzi " + command + " --namespace " + namespace + "`";
  }

  /** A time and its distance: {@code 2026-03-01T12:00:00Z (in 3 h)}, {@code … (2 min ago)}. */
  String at(Instant time) {
    String distance =
        time.isAfter(now)
            ? "in " + span(Duration.between(now, time))
            : span(Duration.between(time, now)) + " ago";
    return time.truncatedTo(ChronoUnit.SECONDS) + " (" + distance + ")";
  }

  /** A time in the past and how long ago it was: {@code since 2026-03-01T12:00:00Z (for 2 min)}. */
  String since(Instant time) {
    return "since %s (for %s)".formatted(time.truncatedTo(ChronoUnit.SECONDS), passed(time));
  }

  /** The time that has passed since then. */
  String passed(Instant time) {
    return span(time.isAfter(now) ? Duration.ZERO : Duration.between(time, now));
  }

  /** The two largest units of a duration: {@code 350 ms}, {@code 12 s}, {@code 3 h 5 min}. */
  static String span(Duration time) {
    if (time.toSeconds() == 0) {
      return time.toMillis() + " ms";
    }
    if (time.toMinutes() == 0) {
      return time.toSeconds() + " s";
    }
    if (time.toHours() == 0) {
      return units(time.toMinutes(), "min", time.toSecondsPart(), "s");
    }
    return time.toDays() == 0
        ? units(time.toHours(), "h", time.toMinutesPart(), "min")
        : units(time.toDays(), "d", time.toHoursPart(), "h");
  }

  private static String units(long large, String unit, long small, String smaller) {
    return large + " " + unit + (small == 0 ? "" : " " + small + " " + smaller);
  }

  /** The type and the message of a failure, on one line and shortened. */
  static String error(Failure failure) {
    return error(failure, ERROR_CHARS_MAX);
  }

  static String error(Failure failure, int charsMax) {
    String type = failure.metadata().getOrDefault("type", "");
    return cut(type.isEmpty() ? failure.message() : type + ": " + failure.message(), charsMax);
  }

  /** Ends a text like a sentence: messages of errors often end with a question mark. */
  static String sentence(String text) {
    return text.endsWith(".") || text.endsWith("?") || text.endsWith("!") ? text : text + ".";
  }

  static String brief(String text) {
    return cut(text, ERROR_CHARS_MAX);
  }

  /** The text on one line, cut after {@code charsMax} characters. */
  static String cut(String text, int charsMax) {
    String line = text.strip().replaceAll("\\s+", " ");
    return line.length() <= charsMax ? line : line.substring(0, charsMax) + "...";
  }

  /** A worker with its process, if it is still registered: {@code worker ID (host, pid 77)}. */
  static String worker(@Nullable WorkerId id, @Nullable WorkerView view) {
    String process =
        view == null || view.hostname().isEmpty()
            ? ""
            : " (%s, pid %d)".formatted(view.hostname(), view.pid());
    return id == null ? "a worker" : "worker " + id + process;
  }

  /** Names the first items and how many more there are. */
  static String list(Collection<String> items, int all) {
    List<String> named = items.stream().limit(NAMED_MAX).toList();
    int more = all - named.size();
    return String.join(", ", named) + (more > 0 ? " and " + more + " more" : "");
  }

  static String list(Collection<String> items) {
    return list(items, items.size());
  }

  /** Versions in quotes, because the empty text is one, too. */
  static String versions(Collection<String> versions) {
    return list(
        versions.stream().distinct().sorted().map(WaitText::quoted).collect(Collectors.toList()));
  }

  private static String quoted(String version) {
    return switch (version) {
      case "*" -> "any version";
      case "" -> "'' (no version)";
      default -> "'" + version + "'";
    };
  }

  static String type(String type, String version) {
    return version.isEmpty() ? type : type + " (version " + version + ")";
  }
}
