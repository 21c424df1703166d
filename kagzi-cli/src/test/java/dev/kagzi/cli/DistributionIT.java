package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The release as somebody unpacks and starts it. */
class DistributionIT {
  private static final String VERSION = System.getProperty("kagzi.version", "");

  @TempDir private static Path folder;
  private static Path root;

  private record Ended(int code, String out, String err) {}

  @BeforeAll
  static void unpack() throws Exception {
    Ended tar =
        run(Map.of(), "tar", "-C", folder.toString(), "-xzf", System.getProperty("kagzi.dist", ""));
    assertThat(tar.code()).as(tar.err()).isZero();
    root = folder.resolve("kagzi-" + VERSION);
  }

  @Test
  void it_holds_what_a_server_needs_and_the_licences() throws Exception {
    try (Stream<Path> files = Files.walk(root)) {
      assertThat(files.filter(Files::isRegularFile).map(file -> root.relativize(file).toString()))
          .containsExactlyInAnyOrder(
              "bin/kagzi",
              "lib/kagzi.jar",
              "conf/kagzi.properties",
              "systemd/kagzi.service",
              "LICENSE",
              "NOTICE",
              "THIRD-PARTY.txt");
    }
    assertThat(Files.readString(root.resolve("THIRD-PARTY.txt")))
        .contains(
            "io.grpc:grpc-netty-shaded:", "org.postgresql:postgresql:", "info.picocli:picocli:")
        .contains("Apache")
        .doesNotContain("dev.kagzi:", "junit", "Unknown license");
  }

  @Test
  void it_says_its_version_also_through_a_link() throws Exception {
    Path link = Files.createSymbolicLink(folder.resolve("kagzi"), root.resolve("bin/kagzi"));

    Ended version = run(Map.of(), link.toString(), "version");

    assertThat(version.code()).as(version.err()).isZero();
    assertThat(version.out()).startsWith("kagzi " + VERSION + " (Java ");
    assertThat(version.err()).isEmpty();
  }

  @Test
  void its_sample_configuration_is_one() throws Exception {
    Ended shown =
        run(
            Map.of("KAGZI_DB_PASSWORD", "secret"),
            root.resolve("bin/kagzi").toString(),
            "server",
            "--config",
            root.resolve("conf/kagzi.properties").toString(),
            "--print-config");

    assertThat(shown.code()).as(shown.err()).isZero();
    assertThat(shown.out())
        .containsPattern("db-url +jdbc:postgresql://127.0.0.1:5432/kagzi +file")
        .containsPattern("db-password +\\(hidden\\) +env")
        .doesNotContain("secret");
  }

  private static Ended run(Map<String, String> environment, String... command)
      throws IOException, InterruptedException {
    File out = Files.createTempFile(folder, "run", ".out").toFile();
    File err = Files.createTempFile(folder, "run", ".err").toFile();
    List<String> words = Arrays.asList(command);
    ProcessBuilder builder = new ProcessBuilder(words).redirectOutput(out).redirectError(err);
    builder.environment().keySet().removeIf(name -> name.startsWith("KAGZI_"));
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("XDG_CACHE_HOME", folder.resolve("cache").toString());
    builder.environment().putAll(environment);
    int code = builder.start().waitFor();
    return new Ended(
        code,
        Files.readString(out.toPath(), StandardCharsets.UTF_8),
        Files.readString(err.toPath(), StandardCharsets.UTF_8));
  }
}
