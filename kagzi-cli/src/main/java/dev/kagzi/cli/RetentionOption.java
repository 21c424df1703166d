package dev.kagzi.cli;

import dev.kagzi.server.config.OptionType;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

final class RetentionOption {

  private static final OptionType TIME = new OptionType.Time("0s", "36500d");
  private static final String DEFAULT = "default";

  @Spec(Target.MIXEE)
  private CommandSpec command = CommandSpec.create();

  @Option(
      names = "--retention",
      paramLabel = "TIME",
      description =
          "How long runs are kept after their end, for example 7d; 0s: forever; default: the server's.")
  private @Nullable String text;

  /** Returns null if the option is not given or is "default". */
  @Nullable Long ms() {
    if (text == null || isDefault()) {
      return null;
    }
    try {
      return ((Duration) TIME.read(text)).toMillis();
    } catch (IllegalArgumentException e) {
      throw new ParameterException(
          command.commandLine(),
          "--retention: %s (expected: %s, or default)".formatted(text, e.getMessage()),
          e);
    }
  }

  boolean isDefault() {
    return DEFAULT.equals(text);
  }

  static String text(Duration time) {
    if (time.isZero()) {
      return "forever";
    }
    return time.toMillis() % 86_400_000 == 0
        ? time.toDays() + "d"
        : time.toMillis() % 1_000 == 0 ? time.toSeconds() + "s" : time.toMillis() + "ms";
  }
}
