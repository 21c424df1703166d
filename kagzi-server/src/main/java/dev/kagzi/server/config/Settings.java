package dev.kagzi.server.config;

import dev.kagzi.engine.config.DatabaseConfig;
import dev.kagzi.engine.value.Refusal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The value of every option, from the first of these that sets it: flag, environment, file,
 * default. Every value is parsed and within its range. Immutable.
 */
public final class Settings {
  /** Suggestion for a name that resembles no known one. */
  static final String ANY_KNOWN = "one of docs/reference.md";

  private static final int LENGTH_MAX = 1_000;

  private record Pair(ServerOption low, ServerOption high) {}

  /** The first of each pair must not exceed the second; otherwise the two contradict each other. */
  private static final List<Pair> ORDERED =
      List.of(
          new Pair(
              ServerOption.WORKER_HEARTBEAT_INTERVAL,
              ServerOption.COORDINATOR_WORKER_STALE_THRESHOLD),
          new Pair(ServerOption.WORKER_HEARTBEAT_INTERVAL, ServerOption.WORKER_FIRST_LEASE),
          new Pair(ServerOption.WORKER_FIRST_LEASE, ServerOption.WORKER_VISIBILITY_TIMEOUT),
          new Pair(ServerOption.JOURNAL_BATCH_BYTES_MAX, ServerOption.JOURNAL_QUEUE_BYTES_MAX),
          new Pair(ServerOption.RETRY_DELAY_FIRST, ServerOption.RETRY_DELAY_MAX),
          new Pair(ServerOption.CRASH_DELAY_FIRST, ServerOption.CRASH_DELAY_MAX),
          new Pair(ServerOption.PAYLOAD_BYTES_WARN, ServerOption.PAYLOAD_BYTES_MAX));

  private final Map<ServerOption, Setting> settings = new EnumMap<>(ServerOption.class);
  private final Map<ServerOption, Comparable<?>> values = new EnumMap<>(ServerOption.class);

  private Settings(Sources sources) {
    EnvironmentVariables.check(sources.environment());
    sources.file().check();
    for (ServerOption option : ServerOption.values()) {
      Setting setting = sources.find(option);
      settings.put(option, setting);
      if (!setting.text().isEmpty()) {
        values.put(option, read(option, setting));
      }
    }
    ORDERED.forEach(this::checkOrder);
  }

  /**
   * The sources of settings.
   *
   * @param flags from the command line
   * @param defaults overrides of a command for the server's defaults
   */
  public record Sources(
      Map<ServerOption, String> flags,
      Map<String, String> environment,
      ConfigFile file,
      Map<ServerOption, String> defaults) {

    /** Reads nothing but the environment. */
    public static Sources environment(Map<String, String> environment) {
      return new Sources(Map.of(), environment, ConfigFile.none(), Map.of());
    }

    private Setting find(ServerOption option) {
      // Scripts and container templates set an empty value to mean "not set".
      String flag = flags.getOrDefault(option, "");
      if (!flag.isEmpty()) {
        return new Setting(flag, Setting.Source.FLAG, option.flag().orElse(""));
      }
      String variable = environment.getOrDefault(option.variable(), "");
      if (!variable.isEmpty() && !EnvironmentVariables.isServiceLink(option.variable(), variable)) {
        return new Setting(variable, Setting.Source.ENV, option.variable());
      }
      String line = file.entries().getOrDefault(option.key(), "").strip();
      if (!line.isEmpty()) {
        return new Setting(line, Setting.Source.FILE, file.path());
      }
      String defaultText = defaults.getOrDefault(option, option.defaultValue());
      return new Setting(defaultText, Setting.Source.DEFAULT, "");
    }
  }

  /**
   * Resolves the options from their sources.
   *
   * @throws SettingsException for an unknown name and for a value out of its range
   */
  public static Settings of(Sources sources) {
    return new Settings(sources);
  }

  public static Settings defaults() {
    return of(Sources.environment(Map.of()));
  }

  private static Comparable<?> read(ServerOption option, Setting setting) {
    String text = setting.text();
    String shown = option.isSecret() ? "(hidden)" : Refusal.shorten(text);
    if (text.length() > LENGTH_MAX || text.chars().anyMatch(Settings::isNotVisible)) {
      throw new SettingsException(
          "%s: %s (expected: at most %d characters, all of them visible)"
              .formatted(name(option, setting), shown, LENGTH_MAX));
    }
    try {
      return option.type().read(text);
    } catch (IllegalArgumentException e) {
      throw new SettingsException(
          "%s: %s (expected: %s)".formatted(name(option, setting), shown, e.getMessage()), e);
    }
  }

  private static boolean isNotVisible(int c) {
    return Character.isISOControl(c) || Character.isSurrogate((char) c);
  }

  private static String name(ServerOption option, Setting setting) {
    return switch (setting.source()) {
      case FLAG, ENV -> setting.where();
      case FILE -> option.key() + " in " + setting.where();
      case DEFAULT -> option.key();
    };
  }

  @SuppressWarnings("unchecked") // Both options have the same type.
  private void checkOrder(Pair pair) {
    Comparable<Object> low = (Comparable<Object>) value(pair.low());
    if (low.compareTo(value(pair.high())) <= 0) {
      return;
    }
    Setting high = get(pair.high());
    if (pair.low() == ServerOption.PAYLOAD_BYTES_WARN
        && get(pair.low()).source() == Setting.Source.DEFAULT) {
      // The warning size is only a default: lower it to the limit, which rejects larger payloads
      // anyway.
      settings.put(pair.low(), new Setting(high.text(), Setting.Source.DEFAULT, ""));
      values.put(pair.low(), value(pair.high()));
      return;
    }
    // The error names the option that the user set.
    if (get(pair.low()).source() == Setting.Source.DEFAULT) {
      throw new SettingsException(
          "%s: %s (expected: at least %s, which %s is)"
              .formatted(
                  name(pair.high(), high), high.text(), get(pair.low()).text(), pair.low().key()));
    }
    throw new SettingsException(
        "%s: %s (expected: at most %s, which %s is)"
            .formatted(
                name(pair.low(), get(pair.low())),
                get(pair.low()).text(),
                high.text(),
                pair.high().key()));
  }

  public Setting get(ServerOption option) {
    Setting setting = settings.get(option);
    if (setting == null) {
      throw new IllegalStateException("option: " + option + " (expected: read)");
    }
    return setting;
  }

  private Comparable<?> value(ServerOption option) {
    Comparable<?> value = values.get(option);
    if (value == null) {
      throw new IllegalStateException(option.key() + ": none (expected: a value)");
    }
    return value;
  }

  public String text(ServerOption option) {
    return get(option).text();
  }

  /** Returns the value for display: no secrets, and no password in a URL. */
  public String shown(ServerOption option) {
    String value = text(option);
    if (value.isEmpty()) {
      return "(none)";
    }
    return option.isSecret() ? "(hidden)" : DatabaseConfig.masked(value);
  }

  public boolean isOn(ServerOption option) {
    return (Boolean) value(option);
  }

  public long number(ServerOption option) {
    return (Long) value(option);
  }

  /** Returns the value of a numeric option whose values fit into an int. */
  public int integer(ServerOption option) {
    return Math.toIntExact(number(option));
  }

  public double decimal(ServerOption option) {
    return (Double) value(option);
  }

  public Duration time(ServerOption option) {
    return (Duration) value(option);
  }

  public Optional<Path> file(ServerOption option) {
    @Nullable Comparable<?> value = values.get(option);
    return value == null ? Optional.empty() : Optional.of((Path) value);
  }
}
