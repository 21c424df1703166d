package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Server;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The release, unpacked and started like a user does. */
@SuppressWarnings("NullAway.Init")
class DistributionIT {
  @TempDir private static Path folder;
  private static Release release;
  private static Path root;

  @BeforeAll
  static void unpack() throws Exception {
    release = Release.unpack(folder);
    root = release.root();
  }

  @Test
  void a_release_contains_what_a_server_needs_and_the_licences() throws Exception {
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
    assertThat(root.resolve("docs/monitoring"))
        .isDirectoryContaining("glob:**/grafana-dashboard.json")
        .isDirectoryContaining("glob:**/alerts.yml")
        .isDirectoryContaining("glob:**/alerts.test.yml");
    assertThat(Files.readString(root.resolve("THIRD-PARTY.txt")))
        .contains(
            "io.grpc:grpc-netty-shaded:", "org.postgresql:postgresql:", "info.picocli:picocli:")
        .contains("Apache")
        .doesNotContain("dev.kagzi:", "junit", "Unknown license");
  }

  @Test
  void a_release_prints_its_version_also_through_a_link() throws Exception {
    Path link = Files.createSymbolicLink(folder.resolve("kagzi"), root.resolve("bin/kagzi"));

    Release.Ended version = release.run(Map.of(), link.toString(), "version");

    assertThat(version.code()).as(version.err()).isZero();
    assertThat(version.out()).startsWith("kagzi " + Release.VERSION + " (Java ");
    assertThat(version.err()).isEmpty();
  }

  @Test
  void a_java_that_is_too_old_is_skipped_for_a_newer_installed_one() throws Exception {
    Path usual = Files.createDirectories(folder.resolve("top/usr/lib/jvm"));
    Path link = usual.resolve("new");
    Files.createSymbolicLink(link, Path.of(System.getProperty("java.home")));
    Path old = oldJava(folder.resolve("old"));
    String path = old.resolve("bin") + File.pathSeparator + "/usr/bin:/bin";
    String launcher = root.resolve("bin/kagzi").toString();

    Release.Ended none =
        release.run(Map.of("PATH", path, "KAGZI_JDK_ROOT", "/nowhere"), launcher, "version");
    Release.Ended found =
        release.run(
            Map.of("PATH", path, "KAGZI_JDK_ROOT", folder.resolve("top").toString()),
            launcher,
            "version");
    Release.Ended named = release.run(Map.of("JAVA_HOME", old.toString()), launcher, "version");
    // JUnit warns about links that lead out of the folder that it deletes.
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
  void a_command_finds_its_classes_in_the_archive_whichever_command_came_first() throws Exception {
    String launcher = release.launcher();
    String cache = folder.resolve("untrained").toString();
    Path loaded = folder.resolve("loaded.log");
    Release.Ended list;
    Server server = ClassArchiveTraining.startServer();
    try {
      release.run(Map.of("XDG_CACHE_HOME", cache), launcher, "version");
      list =
          release.run(
              Map.of("XDG_CACHE_HOME", cache, "KAGZI_JAVA_OPTS", "-Xlog:class+load:file=" + loaded),
              launcher,
              "workflow",
              "list",
              "--address",
              "127.0.0.1:" + server.getPort());
    } finally {
      server.shutdownNow();
    }

    assertThat(list.code()).as(list.err()).isZero();
    List<String> classes = Files.readAllLines(loaded);
    long shared = classes.stream().filter(line -> line.contains("shared objects file")).count();
    // Some classes have formats that no archive accepts.
    assertThat(shared)
        .as("classes from the archive, of %s", classes.size())
        .isGreaterThan(classes.size() * 9L / 10);
  }

  @Test
  void the_sample_configuration_of_a_release_is_valid() throws Exception {
    Release.Ended shown =
        release.run(
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
}
