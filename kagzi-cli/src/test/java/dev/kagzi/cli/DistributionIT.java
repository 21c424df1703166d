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
          .filteredOn(file -> !file.startsWith("docs/"))
          .containsExactlyInAnyOrder(
              "README.md",
              "bin/kagzi",
              "lib/kagzi.jar",
              "conf/kagzi.properties",
              "systemd/kagzi.service",
              "LICENSE",
              "NOTICE",
              "THIRD-PARTY.txt");
    }
    assertThat(root.resolve("docs/reference.md")).isRegularFile();
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
  void a_java_that_is_too_old_is_passed_over_for_one_in_the_usual_places() throws Exception {
    Path usual = Files.createDirectories(folder.resolve("top/usr/lib/jvm"));
    Path link = usual.resolve("new");
    Files.createSymbolicLink(link, Path.of(System.getProperty("java.home")));
    Path old = oldJava(folder.resolve("old"));
    String path = old.resolve("bin") + File.pathSeparator + "/usr/bin:/bin";
    String launcher = root.resolve("bin/kagzi").toString();

    Ended none = run(Map.of("PATH", path, "KAGZI_JDK_ROOT", "/nowhere"), launcher, "version");
    Ended found =
        run(
            Map.of("PATH", path, "KAGZI_JDK_ROOT", folder.resolve("top").toString()),
            launcher,
            "version");
    Ended named = run(Map.of("JAVA_HOME", old.toString()), launcher, "version");
    // JUnit warns about links that lead out of the folder which it deletes.
    Files.delete(link);

    assertThat(none.code()).isEqualTo(1);
    assertThat(none.err())
        .isEqualTo(
            "kagzi: Java 17 in %s on the PATH, nothing newer in /usr/lib/jvm (expected: 21 or newer; JAVA_HOME may name one)\n"
                .formatted(old.toRealPath()));
    assertThat(found.code()).as(found.err()).isZero();
    assertThat(named.code()).isEqualTo(1);
    assertThat(named.err())
        .isEqualTo("kagzi: JAVA_HOME: Java 17 in %s (expected: 21 or newer)\n".formatted(old));
  }

  private static Path oldJava(Path home) throws IOException {
    Path java = Files.createDirectories(home.resolve("bin")).resolve("java");
    Files.writeString(java, "#!/bin/sh\nexit 9\n");
    assertThat(java.toFile().setExecutable(true)).isTrue();
    Files.writeString(home.resolve("release"), "JAVA_VERSION=\"17.0.12\"\n");
    return home;
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
}
