package dev.kagzi.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/** A process of the worker in {@code examples/node}, installed under {@code target}. */
final class NodeWorker implements AutoCloseable {
  static final Path ROOT = Path.of(System.getProperty("kagzi.root", ".."));
  static final Path SOURCES = ROOT.resolve("examples/node");
  private static final Path HOME = Path.of("target", "node");
  private static final Pattern OFFLINE =
      Pattern.compile(
          "ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED");

  private final Process process;
  private final Path log;

  private NodeWorker(Process process, Path log) {
    this.process = process;
    this.log = log;
  }

  /** Installs the worker's packages. If that is impossible, aborts the test; in CI, fails it. */
  static void install() throws Exception {
    String versions = command(Path.of("."), 30, "sh", "-c", "node --version && npm --version");
    if (!versions.matches("(?s)v(1[89]|[2-9]\\d)\\..*\\n\\d+\\..*")) {
      unavailable("node and npm: " + versions + " (expected: Node 18 or newer, and npm)");
    }
    Files.createDirectories(HOME);
    Files.copy(
        SOURCES.resolve("worker.mjs"),
        HOME.resolve("worker.mjs"),
        StandardCopyOption.REPLACE_EXISTING);
    Path lock = HOME.resolve("package-lock.json");
    boolean installed =
        Files.exists(HOME.resolve("installed"))
            && Files.mismatch(lock, SOURCES.resolve("package-lock.json")) < 0;
    if (installed) {
      return;
    }
    Files.deleteIfExists(HOME.resolve("installed"));
    for (String file : List.of("package.json", "package-lock.json")) {
      Files.copy(SOURCES.resolve(file), HOME.resolve(file), StandardCopyOption.REPLACE_EXISTING);
    }
    String output =
        command(
            HOME,
            300,
            "npm",
            "ci",
            "--omit=dev",
            "--ignore-scripts",
            "--prefer-offline",
            "--no-audit",
            "--no-fund");
    if (!Files.exists(HOME.resolve("node_modules/@grpc/grpc-js/package.json"))) {
      if (OFFLINE.matcher(output).find()) {
        unavailable("npm ci: " + output + " (expected: a package registry that answers)");
      }
      fail("npm ci: " + output);
    }
    Files.createFile(HOME.resolve("installed"));
  }

  /** Returns what a script prints. */
  static String evaluate(String script) throws Exception {
    return command(Path.of("."), 30, "node", "--eval", script);
  }

  private static void unavailable(String why) {
    if ("true".equals(System.getenv("CI"))) {
      fail(why);
    }
    abort(why);
  }

  /** Returns the output of the command, for any exit code. */
  private static String command(Path folder, int seconds, String... command) throws Exception {
    Path output = Files.createTempFile("node", ".log");
    try {
      Process process =
          new ProcessBuilder(command)
              .directory(folder.toFile())
              .redirectErrorStream(true)
              .redirectOutput(output.toFile())
              .start();
      if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
      return Files.readString(output);
    } catch (IOException e) {
      return e.toString();
    } finally {
      Files.delete(output);
    }
  }

  static NodeWorker start(String address) throws IOException {
    Path log = Files.createTempFile(HOME, "worker", ".log");
    ProcessBuilder builder =
        new ProcessBuilder("node", "worker.mjs")
            .directory(HOME.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
    Path protos = ROOT.resolve("kagzi-protocol/src/main/protobuf").toAbsolutePath();
    builder
        .environment()
        .putAll(Map.of("KAGZI_ADDRESS", address, "KAGZI_PROTOS", protos.toString()));
    return new NodeWorker(builder.start(), log);
  }

  long pid() {
    return process.pid();
  }

  /** Kills the process with SIGKILL. */
  void kill() throws InterruptedException {
    process.destroyForcibly();
    assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
  }

  /** Sends SIGTERM. */
  void terminate() {
    process.destroy();
  }

  int exitCode() throws InterruptedException {
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).as(this::output).isTrue();
    return process.exitValue();
  }

  String output() {
    try {
      return Files.readString(log);
    } catch (IOException e) {
      return e.toString();
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
