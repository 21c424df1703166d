package dev.kagzi.cli;

import dev.kagzi.server.config.ConfigFile;
import dev.kagzi.server.config.OptionType;
import dev.kagzi.server.config.ServerOption;
import dev.kagzi.server.config.Setting;
import dev.kagzi.server.config.Settings;
import dev.kagzi.server.config.SettingsException;
import dev.kagzi.server.listen.ListenConfig;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParseResult;

/** The server's options as flags, and the resolved settings. */
final class ServerFlags {

  /** The options that --help shows; docs/reference.md and --print-config list all. */
  private static final Set<ServerOption> COMMON =
      Set.of(
          ServerOption.HOST,
          ServerOption.PORT,
          ServerOption.HTTP_PORT,
          ServerOption.TOKEN_FILE,
          ServerOption.INSECURE,
          ServerOption.TLS_CERT,
          ServerOption.TLS_KEY,
          ServerOption.TLS_CLIENT_CA,
          ServerOption.REFLECTION,
          ServerOption.LOG_LEVEL,
          ServerOption.LOG_FORMAT,
          ServerOption.DB_URL,
          ServerOption.DB_USER,
          ServerOption.MIGRATE_ON_START,
          ServerOption.AUTO_CREATE_NAMESPACES);

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "A file with lines key=value (default: kagzi.properties, if there is one).")
  private @Nullable Path config;

  @Option(
      names = "--print-config",
      description = "Show every option with its value and source, and exit.")
  private boolean print;

  /**
   * Adds flags for these options to a command.
   *
   * @param defaults the command's own defaults
   */
  static void add(
      CommandSpec command, Set<ServerOption> options, Map<ServerOption, String> defaults) {
    for (ServerOption option : options) {
      option
          .flag()
          .ifPresent(
              flag ->
                  command.addOption(
                      OptionSpec.builder(flag)
                          .type(String.class)
                          .arity(option.type() instanceof OptionType.Switch ? "0..1" : "1")
                          .fallbackValue("true")
                          .paramLabel(option.type().label())
                          .hidden(!COMMON.contains(option))
                          .description(
                              description(
                                  option, defaults.getOrDefault(option, option.defaultValue())))
                          .build()));
    }
  }

  private static String description(ServerOption option, String defaultValue) {
    String text = option.description().replace("%", "%%");
    return defaultValue.isEmpty()
        ? text
        : text.substring(0, text.length() - 1) + " (default: " + defaultValue + ").";
  }

  boolean print() {
    return print;
  }

  /** Resolves the settings from flags, environment and file. */
  Settings settings(ParseResult parsed, Map<ServerOption, String> defaults) {
    Map<ServerOption, String> flags = new EnumMap<>(ServerOption.class);
    for (ServerOption option : ServerOption.values()) {
      option
          .flag()
          .filter(parsed::hasMatchedOption)
          .ifPresent(flag -> flags.put(option, parsed.matchedOptionValue(flag, "")));
    }
    Settings settings =
        Settings.of(
            new Settings.Sources(
                flags, System.getenv(), ConfigFile.find(config, Path.of("")), defaults));
    Logs.configure(settings.text(ServerOption.LOG_LEVEL), settings.text(ServerOption.LOG_FORMAT));
    return settings;
  }

  /** Builds a configuration; reports contradicting settings as wrong usage. */
  static <T> T asUsageError(Supplier<T> configuration) {
    try {
      return configuration.get();
    } catch (IllegalArgumentException e) {
      throw new SettingsException(String.valueOf(e.getMessage()), e);
    }
  }

  /** Throws an error of one line if a port is taken. */
  static void checkPorts(ListenConfig listen) {
    try {
      listen.checkPorts();
    } catch (IllegalArgumentException e) {
      throw new CliException(String.valueOf(e.getMessage()), e);
    }
  }

  /** Formats one line for each option, with secrets hidden. */
  static String text(Settings settings, Set<ServerOption> options) {
    int keys = options.stream().mapToInt(option -> option.key().length()).max().orElse(0);
    List<String> values = options.stream().map(settings::shown).toList();
    int widest = values.stream().mapToInt(String::length).max().orElse(0);
    StringBuilder text = new StringBuilder();
    for (ServerOption option : options) {
      Setting setting = settings.get(option);
      text.append(
          String.format(
                  Locale.ROOT,
                  "%-" + keys + "s  %-" + widest + "s  %s %s",
                  option.key(),
                  settings.shown(option),
                  setting.source().name().toLowerCase(Locale.ROOT),
                  setting.where())
              .stripTrailing());
      text.append('\n');
    }
    return text.toString();
  }
}
