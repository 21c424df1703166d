package dev.kagzi.server.config;

import dev.kagzi.engine.value.Refusal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What every option is, by flag, else by environment, else by file, else by default; each readable
 * and within its range. Immutable.
 */
public final class Settings {
  /** For what resembles nothing that there is. */
  static final String ANY_KNOWN = "one of docs/reference.md";

  private static final int LENGTH_MAX = 1_000;

  private record Pair(ServerOption low, ServerOption high) {}

  /** The first of each must not be more than the second, or the server could not work. */
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
   * Where settings come from.
   *
   * @param flags what the command line says
   * @param defaults where the command's defaults are not the server's
   */
  public record Sources(
      Map<ServerOption, String> flags,
      Map<String, String> environment,
      ConfigFile file,
      Map<ServerOption, String> defaults) {

    /** Nothing but the environment. */
    public static Sources environment(Map<String, String> environment) {
      return new Sources(Map.of(), environment, ConfigFile.none(), Map.of());
    }

    private Setting find(ServerOption option) {
      // What is there and empty is what a script or a template of containers makes of "not set".
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
      String usual = defaults.getOrDefault(option, option.fallback());
      return new Setting(usual, Setting.Source.DEFAULT, "");
    }
  }

  /**
   * Puts them together.
   *
   * @throws SettingsException for what nobody knows, and for what is out of its range
   */
  public static Settings of(Sources sources) {
    return new Settings(sources);
  }

  /** Nothing but defaults. */
  public static Settings defaults() {
    return of(Sources.environment(Map.of()));
  }

  private static Comparable<?> read(ServerOption option, Setting setting) {
    String text = setting.text();
    String shown = option.isSecret() ? "(hidden)" : Refusal.shorten(text);
    if (text.length() > LENGTH_MAX || text.chars().anyMatch(Settings::isNoText)) {
      throw new SettingsException(
          "%s: %s (expected: at most %d characters, all of them visible)"
              .formatted(name(option, setting), shown, LENGTH_MAX));
    }
    try {
      return option.kind().read(text);
    } catch (IllegalArgumentException e) {
      throw new SettingsException(
          "%s: %s (expected: %s)".formatted(name(option, setting), shown, e.getMessage()), e);
    }
  }

  private static boolean isNoText(int c) {
    return Character.isISOControl(c) || Character.isSurrogate((char) c);
  }

  /** As whoever said it knows it. */
  private static String name(ServerOption option, Setting setting) {
    return switch (setting.source()) {
      case FLAG, ENV -> setting.where();
      case FILE -> option.key() + " in " + setting.where();
      case DEFAULT -> option.key();
    };
  }

  @SuppressWarnings("unchecked") // Both are options of one kind.
  private void checkOrder(Pair pair) {
    Comparable<Object> low = (Comparable<Object>) value(pair.low());
    if (low.compareTo(value(pair.high())) <= 0) {
      return;
    }
    Setting high = get(pair.high());
    if (pair.low() == ServerOption.PAYLOAD_BYTES_WARN
        && get(pair.low()).source() == Setting.Source.DEFAULT) {
      // Nobody asked for warnings at that size, and smaller payloads need none to be refused.
      settings.put(pair.low(), new Setting(high.text(), Setting.Source.DEFAULT, ""));
      values.put(pair.low(), value(pair.high()));
      return;
    }
    // The one that somebody chose is the one to complain about.
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

  /** What was said of an option, and by whom. */
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

  /** Text, which may be empty. */
  public String text(ServerOption option) {
    return get(option).text();
  }

  public boolean isOn(ServerOption option) {
    return (Boolean) value(option);
  }

  public long number(ServerOption option) {
    return (Long) value(option);
  }

  /** A number whose range is that of an int. */
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
