package dev.kagzi.server.config;

import java.math.BigDecimal;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The type of an option's value: how it is written, parsed and bounded. */
public sealed interface OptionType {

  /**
   * Parses a value that is not empty.
   *
   * @throws IllegalArgumentException whose message is the expected value
   */
  Comparable<?> read(String text);

  default String label() {
    return switch (this) {
      case Text text -> text.name();
      case Secret() -> "SECRET";
      case File() -> "FILE";
      case Switch() -> "true|false";
      case Choice ignored -> "WORD";
      case Whole ignored -> "N";
      case Times ignored -> "N";
      case Decimal ignored -> "X";
      case Bytes ignored -> "SIZE";
      case Time ignored -> "TIME";
    };
  }

  default String unit() {
    return this instanceof Bytes ? "bytes" : this instanceof Time ? "time" : "";
  }

  /** The allowed values, for help and documentation; or empty. */
  default String range() {
    return switch (this) {
      case Text ignored -> "";
      case Secret() -> "";
      case File() -> "";
      case Switch() -> "true or false";
      case Choice(List<String> values) -> String.join(", ", values);
      case Whole(long min, long max) -> min + " to " + max;
      case Times(long max) -> "1 to " + max + ", or -1";
      case Decimal(double min, double max) -> min + " to " + max;
      case Bytes(String from, String to) -> from + " to " + to;
      case Time(String from, String to) -> from + " to " + to;
    };
  }

  record Text(String name) implements OptionType {
    @Override
    public Comparable<?> read(String text) {
      return text;
    }
  }

  /** Text that is never shown and has no flag, since process lists show flags. */
  record Secret() implements OptionType {
    @Override
    public Comparable<?> read(String text) {
      return text;
    }
  }

  record File() implements OptionType {
    @Override
    public Comparable<?> read(String text) {
      try {
        return Path.of(text);
      } catch (InvalidPathException e) {
        throw new IllegalArgumentException("a file", e);
      }
    }
  }

  record Switch() implements OptionType {
    @Override
    public Comparable<?> read(String text) {
      return switch (text.toLowerCase(Locale.ROOT)) {
        case "true" -> true;
        case "false" -> false;
        default -> throw new IllegalArgumentException(range());
      };
    }
  }

  record Choice(List<String> values) implements OptionType {
    public Choice {
      values = List.copyOf(values);
    }

    @Override
    public Comparable<?> read(String text) {
      return values.stream()
          .filter(word -> word.equalsIgnoreCase(text))
          .findFirst()
          .orElseThrow(() -> new IllegalArgumentException(range()));
    }
  }

  record Whole(long min, long max) implements OptionType {
    @Override
    public Comparable<?> read(String text) {
      try {
        return bounded(Long.parseLong(text), min, max, range());
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException("a number, " + range(), e);
      }
    }
  }

  /** A count of executions: at least 1, or -1 for no limit. */
  record Times(long max) implements OptionType {
    @Override
    public Comparable<?> read(String text) {
      try {
        long times = Long.parseLong(text);
        return times == -1 ? times : bounded(times, 1L, max, range());
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException("a number, " + range(), e);
      }
    }
  }

  record Decimal(double min, double max) implements OptionType {
    @Override
    public Comparable<?> read(String text) {
      try {
        double value = Double.parseDouble(text);
        // Written so that NaN is rejected too.
        if (!(value >= min && value <= max)) {
          throw new IllegalArgumentException(range());
        }
        return value;
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException("a number, " + range(), e);
      }
    }
  }

  /** An amount of memory: {@code 3145728}, {@code 3072KiB} or {@code 3MiB}. */
  record Bytes(String from, String to) implements OptionType {
    private static final Pattern FORM = Pattern.compile("(\\d{1,15})\\s*(|B|KiB|MiB|GiB)");
    private static final Map<String, Integer> SHIFTS =
        Map.of("", 0, "B", 0, "KiB", 10, "MiB", 20, "GiB", 30);

    @Override
    public Comparable<?> read(String text) {
      return bounded(amount(text), amount(from), amount(to), range());
    }

    private long amount(String text) {
      Matcher form = FORM.matcher(text);
      if (!form.matches()) {
        throw new IllegalArgumentException("such as 3MiB, " + range());
      }
      long number = Long.parseLong(form.group(1));
      int shift = SHIFTS.getOrDefault(form.group(2), 0);
      return number > Long.MAX_VALUE >> shift ? Long.MAX_VALUE : number << shift;
    }
  }

  /** A length of time: {@code 500ms}, {@code 30s}, {@code 5m}, {@code 2h}, {@code 7d}. */
  record Time(String from, String to) implements OptionType {
    private static final Pattern FORM =
        Pattern.compile("(\\d{1,12}(?:\\.\\d{1,3})?)\\s*(|ms|s|m|h|d)");

    // A bare number means seconds, because some variable names end in _SECS.
    private static final Map<String, Long> UNITS_MS =
        Map.of("", 1_000L, "ms", 1L, "s", 1_000L, "m", 60_000L, "h", 3_600_000L, "d", 86_400_000L);

    @Override
    public Comparable<?> read(String text) {
      return bounded(amount(text), amount(from), amount(to), range());
    }

    private Duration amount(String text) {
      Matcher form = FORM.matcher(text);
      if (!form.matches()) {
        throw new IllegalArgumentException("such as 500ms, 30s, 5m, 2h or 7d, " + range());
      }
      long unitMs = UNITS_MS.getOrDefault(form.group(2), 1L);
      return Duration.ofMillis(
          new BigDecimal(form.group(1)).multiply(BigDecimal.valueOf(unitMs)).longValue());
    }
  }

  private static <T extends Comparable<T>> T bounded(T value, T min, T max, String range) {
    if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
      throw new IllegalArgumentException(range);
    }
    return value;
  }
}
