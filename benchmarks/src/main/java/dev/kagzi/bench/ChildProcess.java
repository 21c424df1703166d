package dev.kagzi.bench;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A Java program in a child process that answers each line with a line. It ends when its standard
 * input is closed, so it does not outlive this process. Used by one thread.
 */
final class ChildProcess implements AutoCloseable {
  private static final long END_SECONDS = 20;

  private final String name;
  private final Process process;
  private final BufferedReader answers;
  private final BufferedWriter questions;

  private ChildProcess(String name, Process process) {
    this.name = name;
    this.process = process;
    this.answers = process.inputReader(StandardCharsets.UTF_8);
    this.questions = process.outputWriter(StandardCharsets.UTF_8);
  }

  /**
   * Starts the program with the Java of this process and options that silence warnings and logs of
   * the JVM. {@code KAGZI_SERVER_JAVA_OPTS} adds others, for example to record a profile.
   *
   * @param name the name in error messages
   * @param environment kept out of the command line, which every user of the machine can read
   */
  static ChildProcess start(
      String name, String classPath, String mainClass, Map<String, String> environment) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    if (Runtime.version().feature() >= 24) {
      command.add("--sun-misc-unsafe-memory-access=allow");
    }
    command.add("--enable-native-access=ALL-UNNAMED");
    command.addAll(List.of("-Xlog:disable", "-Xlog:all=error:stderr"));
    String more = System.getenv().getOrDefault("KAGZI_SERVER_JAVA_OPTS", "").strip();
    if (!more.isEmpty()) {
      command.addAll(Arrays.asList(more.split("\\s+")));
    }
    command.addAll(List.of("-cp", classPath, mainClass));
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().putAll(environment);
    try {
      return new ChildProcess(name, builder.start());
    } catch (IOException e) {
      throw new BenchException(name + " does not start: " + e.getMessage(), e);
    }
  }

  long pid() {
    return process.pid();
  }

  /** Sends a line and waits for the answer. */
  String ask(String question) {
    try {
      questions.write(question);
      questions.newLine();
      questions.flush();
    } catch (IOException e) {
      throw new BenchException(name + " has ended (asked: " + question + ")", e);
    }
    return read();
  }

  /** Waits for the next line. */
  String read() {
    try {
      String line = answers.readLine();
      if (line == null) {
        throw new BenchException(name + " has ended (expected: an answer; see above for why)");
      }
      return line;
    } catch (IOException e) {
      throw new BenchException(name + " does not answer: " + e.getMessage(), e);
    }
  }

  /** Closes its input and waits until it has ended. */
  @Override
  public void close() {
    try {
      questions.close();
    } catch (IOException e) {
      // It has ended already.
      process.destroy();
    }
    try {
      if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      process.destroyForcibly();
    }
  }
}
