package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * The release that the build made, unpacked in a folder that also holds the output of its commands.
 */
record Release(Path root) {
  static final String VERSION = System.getProperty("kagzi.version", "");

  /** The result of a command. */
  record Ended(int code, String out, String err) {}

  static Release unpack(Path folder) throws Exception {
    String archive = System.getProperty("kagzi.dist", "");
    Process tar =
        new ProcessBuilder("tar", "-C", folder.toString(), "-xzf", archive).inheritIO().start();
    assertThat(tar.waitFor()).as("tar of %s", archive).isZero();
    return new Release(folder.resolve("kagzi-" + VERSION));
  }

  String launcher() {
    return root.resolve("bin/kagzi").toString();
  }

  /** Runs a command to its end, with this Java unless the environment sets a PATH. */
  Ended run(Map<String, String> environment, String... command)
      throws IOException, InterruptedException {
    File out = Files.createTempFile(folder(), "run", ".out").toFile();
    File err = Files.createTempFile(folder(), "run", ".err").toFile();
    ProcessBuilder builder = builder(command).redirectOutput(out).redirectError(err);
    builder.environment().keySet().removeIf(name -> name.startsWith("KAGZI_"));
    if (environment.containsKey("PATH")) {
      builder.environment().remove("JAVA_HOME");
    }
    builder.environment().putAll(environment);
    int code = builder.start().waitFor();
    return new Ended(
        code,
        Files.readString(out.toPath(), StandardCharsets.UTF_8),
        Files.readString(err.toPath(), StandardCharsets.UTF_8));
  }

  /** Returns a command that finds this Java and does not write to the user's home. */
  ProcessBuilder builder(String... command) {
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("XDG_CACHE_HOME", folder().resolve("cache").toString());
    return builder;
  }

  private Path folder() {
    return root.resolveSibling("");
  }
}
