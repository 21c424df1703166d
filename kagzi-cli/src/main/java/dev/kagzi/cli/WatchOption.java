package dev.kagzi.cli;

import dev.kagzi.server.config.OptionType;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** The option --watch, which shows a result repeatedly. */
final class WatchOption {
  private static final OptionType INTERVAL = new OptionType.Time("100ms", "1h");

  @Spec(Target.MIXEE)
  private CommandSpec command = CommandSpec.create();

  @Option(
      names = "--watch",
      arity = "0..1",
      fallbackValue = "2s",
      paramLabel = "INTERVAL",
      description =
          "Shows the result again every INTERVAL (default: ${FALLBACK-VALUE}) until Ctrl-C; with"
              + " -o json as one document per line.")
  private @Nullable String interval;

  /**
   * Shows the result once or, if the option is given, until Ctrl-C, an interrupt, or the end of the
   * program that reads it.
   */
  int run(Output output, ToIntFunction<Output> show) {
    String text = interval;
    if (text == null) {
      return show.applyAsInt(output);
    }
    Duration pause = pause(command, "--watch", text);
    Screen screen = Screen.of(output);
    int exitCode = draw(screen, output, show);
    while (!output.isClosed() && sleep(pause)) {
      exitCode = drawAgain(screen, output, show, exitCode);
    }
    return exitCode;
  }

  static Duration pause(CommandSpec command, String option, String text) {
    try {
      return (Duration) INTERVAL.read(text);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(
          command.commandLine(),
          "%s: %s (expected: a length of time from 100ms to 1h, such as 2s)"
              .formatted(option, text));
    }
  }

  /** Returns false if the thread was interrupted. */
  static boolean sleep(Duration time) {
    try {
      return !new CountDownLatch(1).await(time.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /**
   * Draws notes such as "no workflows" as part of the frame; printed beside it, they would scroll
   * the screen.
   */
  private static int draw(Screen screen, Output output, ToIntFunction<Output> show) {
    if (output.isJson()) {
      return show.applyAsInt(new Output(true, true, output.out(), output.err()));
    }
    StringWriter frame = new StringWriter();
    PrintWriter writer = new PrintWriter(frame);
    int exitCode = show.applyAsInt(new Output(false, writer, writer));
    writer.flush();
    screen.draw(frame.toString());
    return exitCode;
  }

  /**
   * A server that does not answer for a moment does not end the watch. An interrupt does, also
   * during a call, and is no failure: the exit code is that of the last result.
   */
  private static int drawAgain(
      Screen screen, Output output, ToIntFunction<Output> show, int lastExitCode) {
    try {
      return draw(screen, output, show);
    } catch (RuntimeException failed) {
      if (Thread.currentThread().isInterrupted()) {
        return lastExitCode;
      }
      if (!(failed instanceof CliException refused)) {
        throw failed;
      }
      if (output.isJson()) {
        output.printNote(String.valueOf(refused.getMessage()));
      } else {
        screen.draw("kagzi: " + PlainLine.brief(String.valueOf(refused.getMessage())));
      }
      return refused.exitCode();
    }
  }
}
