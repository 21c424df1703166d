package dev.kagzi.cli;

import dev.kagzi.sdk.Kagzi;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;

/** {@code kagzi dev} in its own JVM, as a user would start it. */
final class DevProcess implements AutoCloseable {

  private static final Pattern GRPC = Pattern.compile("gRPC +localhost:(\\d+)");
  private static final Pattern HTTP = Pattern.compile("HTTP +http://localhost:(\\d+)");

  private static final String LAST_LINE = "Ctrl-C";

  private final Process process;
  private final Path dataDir;
  private final Path errors;
  private String banner = "";

  private DevProcess(Process process, Path dataDir, Path errors) {
    this.process = process;
    this.dataDir = dataDir;
    this.errors = errors;
  }

  private static final String[] FREE_PORT = {"--port", "0"};

  /** Starts dev, without options on a free port, and waits for the banner or for the end. */
  static DevProcess start(Path dataDir, String... options) throws IOException {
    Path errors = Files.createTempFile("kagzi-dev", ".err");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // The same option as in the launcher and the jar's manifest.
    command.add("--enable-native-access=ALL-UNNAMED");
    if (Runtime.version().feature() >= 24) {
      command.add("--sun-misc-unsafe-memory-access=allow");
    }
    command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(Main.class.getName(), "dev", "--data-dir", dataDir.toString()));
    command.addAll(List.of("--http-port", "0"));
    command.addAll(List.of(options.length == 0 ? FREE_PORT : options));
    Process process = new ProcessBuilder(command).redirectError(errors.toFile()).start();
    DevProcess dev = new DevProcess(process, dataDir, errors);
    dev.readBanner(process.inputReader());
    return dev;
  }

  private void readBanner(BufferedReader output) throws IOException {
    StringBuilder read = new StringBuilder();
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      read.append(line).append('\n');
      if (line.contains(LAST_LINE)) {
        break;
      }
    }
    banner = read.toString();
  }

  String banner() {
    return banner;
  }

  String errors() throws IOException {
    return Files.readString(errors);
  }

  int grpcPort() {
    return number(GRPC);
  }

  int httpPort() {
    return number(HTTP);
  }

  private int number(Pattern pattern) {
    Matcher matcher = pattern.matcher(banner);
    if (!matcher.find()) {
      throw new AssertionError("no " + pattern + " in: " + banner);
    }
    return Integer.parseInt(matcher.group(1));
  }

  Kagzi connect() {
    return Kagzi.builder()
        .address("localhost:" + grpcPort())
        .callTimeout(Duration.ofSeconds(5))
        .connect();
  }

  ProcessHandle postgres() throws IOException {
    String pid = Files.readAllLines(pidFile()).getFirst();
    return ProcessHandle.of(Long.parseLong(pid.strip())).orElseThrow();
  }

  void terminate() {
    process.destroy();
  }

  void kill() {
    process.destroyForcibly();
  }

  int awaitExit() throws InterruptedException {
    if (!process.waitFor(60, TimeUnit.SECONDS)) {
      throw new AssertionError("kagzi dev still runs");
    }
    return process.exitValue();
  }

  /** Kills it, and waits for its PostgreSQL, which would write into a folder that is deleted. */
  @Override
  public void close() throws IOException {
    process.destroyForcibly().onExit().join();
    if (banner.contains(LAST_LINE)) {
      awaitPostgresEnd();
    }
    Files.deleteIfExists(errors);
  }

  private void awaitPostgresEnd() throws IOException {
    ProcessHandle postgres;
    try {
      postgres = postgres();
    } catch (NoSuchFileException | NoSuchElementException ended) {
      return;
    }
    // The process of a server that was killed may stay listed, without a command line.
    Awaitility.await()
        .atMost(Duration.ofSeconds(60))
        .until(
            () ->
                !Files.exists(pidFile())
                    || !postgres.isAlive()
                    || postgres.info().commandLine().isEmpty());
  }

  private Path pidFile() {
    return dataDir.resolve("pgdata/postmaster.pid");
  }
}
