package dev.kagzi.torture;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A program of the torture test in its own process, which is killed and restarted many times. It
 * prints a first line when it is ready. It ends when its standard input is closed, so that it does
 * not outlive this process.
 *
 * <p>Thread-safe. If several threads control the process, a caller holds its lock during an
 * operation that takes time.
 */
final class JavaProcess implements AutoCloseable {
  private static final Duration READY_MAX = Duration.ofSeconds(60);
  private static final int STARTS_MAX = 20;

  private final String name;
  private final Class<?> program;
  private final Map<String, String> environment;
  private final Path log;
  private final ReentrantLock lock = new ReentrantLock();
  private volatile @Nullable Process process;
  private volatile boolean expectedAlive;
  private int starts;

  /**
   * @param environment kept out of the command line, which every user of the machine can read
   */
  JavaProcess(String name, Class<?> program, Map<String, String> environment, Path folder) {
    this.name = name;
    this.program = program;
    this.environment = Map.copyOf(environment);
    this.log = folder.resolve(name + ".log");
  }

  String name() {
    return name;
  }

  /**
   * If several threads start, kill or stop the process, each must hold this lock while it does so.
   */
  ReentrantLock lock() {
    return lock;
  }

  /** Starts the process, and retries while it ends before it is ready. Returns its first line. */
  String start() {
    for (int i = 1; ; i++) {
      try {
        return startOnce();
      } catch (IOException e) {
        if (i == STARTS_MAX) {
          throw new TortureException(name + " does not start: " + e.getMessage(), e);
        }
      }
    }
  }

  private String startOnce() throws IOException {
    starts++;
    ProcessBuilder builder =
        new ProcessBuilder(command()).redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
    builder.environment().putAll(environment);
    builder.environment().put("TORTURE_PROCESS", name + "." + starts);
    builder.environment().put("KAGZI_LOG_LEVEL", "INFO");
    Process started = builder.start();
    process = started;
    try {
      String line = firstLine(started);
      expectedAlive = true;
      return line;
    } catch (CompletionException e) {
      end(started);
      throw new IOException("not ready: " + e.getCause() + "; see " + log, e);
    }
  }

  private List<String> command() {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    if (Runtime.version().feature() >= 24) {
      command.add("--sun-misc-unsafe-memory-access=allow");
    }
    command.add("--enable-native-access=ALL-UNNAMED");
    // The processes live for a short time only, so a quick start matters. A small heap leaves
    // memory for the other processes.
    command.addAll(List.of("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
    return command;
  }

  private String firstLine(Process process) {
    CompletableFuture<String> first = new CompletableFuture<>();
    Thread.ofVirtual().name("output-of-" + name).start(() -> read(process, first));
    return first.orTimeout(READY_MAX.toMillis(), TimeUnit.MILLISECONDS).join();
  }

  /** Reads all output; what follows the first line is thread dumps. */
  private void read(Process process, CompletableFuture<String> first) {
    try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
        Writer rest =
            Files.newBufferedWriter(
                log.resolveSibling(name + ".out"),
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND)) {
      String line = output.readLine();
      if (line == null) {
        throw new IOException("it has ended");
      }
      first.complete(line);
      output.transferTo(rest);
    } catch (IOException e) {
      first.completeExceptionally(e);
    }
  }

  void kill() {
    expectedAlive = false;
    end(running());
  }

  void signal(UnixSignal signal) {
    signal.send(running().pid());
  }

  boolean isAlive() {
    Process last = process;
    return last != null && last.isAlive();
  }

  /** Whether it has ended without being killed. */
  boolean hasEndedUnexpectedly() {
    return expectedAlive && !running().isAlive();
  }

  private Process running() {
    return Objects.requireNonNull(process, name + ": not started (expected: start() first)");
  }

  private static void end(Process process) {
    process.destroyForcibly();
    try {
      process.waitFor();
    } catch (InterruptedException e) {
      throw TortureException.interrupted(e);
    }
  }

  @Override
  public void close() {
    Process last = process;
    if (last != null) {
      expectedAlive = false;
      last.destroyForcibly();
    }
  }
}
