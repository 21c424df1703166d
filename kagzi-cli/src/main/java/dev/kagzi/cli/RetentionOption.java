package dev.kagzi.cli;

import dev.kagzi.server.config.OptionType;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** How long a namespace keeps its runs, as an option. */
final class RetentionOption {

  private static final OptionType TIME = new OptionType.Time("0s", "36500d");
  private static final String DEFAULT = "default";

  @Spec(Target.MIXEE)
  private CommandSpec command = CommandSpec.create();

  @Option(
      names = "--retention",
      paramLabel = "TIME",
      description =
          "How long runs are kept after their end, such as 7d; 0s for ever; default as the server.")
  private @Nullable String text;

  /** Null if nothing was said, or that it be the server's. */
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
      return "for ever";
    }
    return time.toMillis() % 86_400_000 == 0
        ? time.toDays() + "d"
        : time.toMillis() % 1_000 == 0 ? time.toSeconds() + "s" : time.toMillis() + "ms";
  }
}
