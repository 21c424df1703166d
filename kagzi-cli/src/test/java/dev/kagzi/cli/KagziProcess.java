package dev.kagzi.cli;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A {@code kagzi} command in its own JVM, folder and environment. */
final class KagziProcess implements AutoCloseable {

  private static final Pattern READY =
      Pattern.compile("is ready: gRPC on \\S+:(\\d+), https?://\\S+:(\\d+)");

  private final Process process;
  private final BufferedReader output;
  private final Path errors;
  private String ready = "";

  private KagziProcess(Process process, Path errors) {
    this.process = process;
    this.output = process.inputReader();
    this.errors = errors;
  }

  static KagziProcess start(Path folder, Map<String, String> environment, String... arguments)
      throws IOException {
    return start(null, folder, environment, arguments);
  }

  /** Starts a command with extra classes and resources first on the class path. */
  static KagziProcess start(
      @Nullable Path classes, Path folder, Map<String, String> environment, String... arguments)
      throws IOException {
    String usual = System.getProperty("java.class.path");
    String classPath = classes == null ? usual : classes + File.pathSeparator + usual;
    return start(
        new ProcessBuilder(javaCommand(classPath, arguments)).directory(folder.toFile()),
        environment);
  }

  /** Starts any command that becomes {@code kagzi}. */
  static KagziProcess start(ProcessBuilder builder, Map<String, String> environment)
      throws IOException {
    Path errors = Files.createTempFile("kagzi", ".err");
    builder.environment().keySet().removeIf(name -> name.startsWith("KAGZI_"));
    builder.environment().putAll(environment);
    return new KagziProcess(builder.redirectError(errors.toFile()).start(), errors);
  }

  /**
   * Starts a command on a terminal of its own, with standard output in a file. {@link #output}
   * returns what the terminal shows, and {@link #type} types.
   */
  static KagziProcess startOnTerminal(Path folder, Path output, String... arguments)
      throws IOException {
    String java =
        javaCommand(System.getProperty("java.class.path"), arguments).stream()
            .map(word -> "'" + word + "'")
            .collect(Collectors.joining(" "));
    return start(
        new ProcessBuilder("script", "-qec", java + " > '" + output + "'", "/dev/null")
            .directory(folder.toFile()),
        Map.of());
  }

  /** Types a line. */
  void type(String line) throws IOException {
    process.outputWriter().append(line).append('\n').flush();
  }

  /** Returns what was printed until this text, which ends no line. */
  String outputUntil(String text) throws IOException {
    StringBuilder read = new StringBuilder();
    for (int next = output.read(); next >= 0; next = output.read()) {
      read.append((char) next);
      if (read.toString().endsWith(text)) {
        return read.toString();
      }
    }
    throw new AssertionError("not printed: " + text + ", but: " + read + errors());
  }

  /** Ends as a reader like {@code head} does. */
  void closeOutput() throws IOException {
    output.close();
  }

  private static List<String> javaCommand(String classPath, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // The same option as in the launcher and the jar's manifest.
    command.add("--enable-native-access=ALL-UNNAMED");
    if (Runtime.version().feature() >= 24) {
      command.add("--sun-misc-unsafe-memory-access=allow");
    }
    command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-cp", classPath, Main.class.getName()));
    command.addAll(List.of(arguments));
    return command;
  }

  /** Waits until a server prints that it is ready. */
  KagziProcess awaitReady() throws IOException {
    String line = output.readLine();
    ready = line == null ? "" : line;
    if (!READY.matcher(ready).find()) {
      throw new AssertionError("not ready: " + ready + "\n" + errors());
    }
    return this;
  }

  int grpcPort() {
    return port(1);
  }

  int httpPort() {
    return port(2);
  }

  private int port(int group) {
    Matcher matcher = READY.matcher(ready);
    if (!matcher.find()) {
      throw new AssertionError("no port in: " + ready);
    }
    return Integer.parseInt(matcher.group(group));
  }

  String errors() throws IOException {
    return Files.readString(errors);
  }

  /** Returns all output until its end. */
  String output() throws IOException {
    return String.join("\n", output.lines().toList());
  }

  /** Leaves the output open, unlike {@link Process#destroy}. */
  void terminate() {
    process.toHandle().destroy();
  }

  int awaitExit() throws InterruptedException {
    if (!process.waitFor(60, TimeUnit.SECONDS)) {
      throw new AssertionError("kagzi still runs");
    }
    return process.exitValue();
  }

  @Override
  public void close() throws IOException {
    process.destroyForcibly().onExit().join();
    Files.deleteIfExists(errors);
  }
}
