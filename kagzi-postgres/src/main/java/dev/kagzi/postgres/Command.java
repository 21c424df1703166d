package dev.kagzi.postgres;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Runs short commands and waits for them. */
final class Command {

  private static final File NULL = new File("/dev/null");

  private Command() {}

  /**
   * Creates a process builder whose environment does not affect PostgreSQL. Its working directory
   * is one that every user can enter.
   */
  static ProcessBuilder of(List<String> command) {
    ProcessBuilder builder = new ProcessBuilder(command).directory(new File("/"));
    Map<String, String> environment = builder.environment();
    environment.keySet().removeIf(name -> name.startsWith("PG") || name.startsWith("LC_"));
    environment.remove("LANG");
    environment.put("LC_ALL", "C");
    environment.put("TZ", "UTC");
    return builder;
  }

  static List<String> join(List<String> prefix, List<String> command) {
    List<String> joined = new ArrayList<>(prefix);
    joined.addAll(command);
    return joined;
  }

  /** Runs the command without output; returns whether it exists and exited with 0. */
  static boolean succeeds(List<String> command) {
    try {
      return run(of(command).redirectErrorStream(true).redirectOutput(NULL), 30) == 0;
    } catch (IOException absent) {
      return false;
    }
  }

  /** Runs the command with its output appended to the log; returns the exit code. */
  static int runLogged(List<String> command, Path log, long secondsMax) {
    try {
      var output = ProcessBuilder.Redirect.appendTo(log.toFile());
      return run(of(command).redirectErrorStream(true).redirectOutput(output), secondsMax);
    } catch (IOException e) {
      throw new EmbeddedPostgresException("cannot run " + command.getFirst() + ": " + e, e);
    }
  }

  private static int run(ProcessBuilder builder, long secondsMax) throws IOException {
    Process process = builder.redirectInput(NULL).start();
    try {
      if (process.waitFor(secondsMax, TimeUnit.SECONDS)) {
        return process.exitValue();
      }
      throw new EmbeddedPostgresException(
          builder.command().getFirst() + " still runs after " + secondsMax + " s");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new EmbeddedPostgresException("interrupted", e);
    } finally {
      process.destroyForcibly();
    }
  }
}
