package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kagzi.cli.LauncherCheckout.Ended;
import dev.kagzi.cli.LauncherCheckout.Running;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LauncherTest {
  private static final String FIRST_BUILD = "kagzi: building kagzi-cli for the first time, ";

  @TempDir Path folder;

  @SuppressWarnings("NullAway.Init")
  private LauncherCheckout checkout;

  @BeforeEach
  void checkOut() throws Exception {
    // The temporary folder may be a symbolic link; the launcher prints real paths.
    checkout = new LauncherCheckout(folder.toRealPath());
  }

  @AfterEach
  void endWhatWasStarted() {
    checkout.close();
  }

  @Test
  void launcher_is_plain_posix_shell() throws Exception {
    Process check =
        new ProcessBuilder("sh", "-n", checkout.root.resolve("kagzi").toString())
            .redirectErrorStream(true)
            .start();

    assertThat(check.inputReader().lines()).isEmpty();
    assertThat(check.waitFor()).isZero();
  }

  @Test
  void first_start_builds_and_arguments_reach_java_as_they_are() throws Exception {
    checkout.complete();
    Path link = Files.createSymbolicLink(folder.resolve("link"), checkout.root.resolve("kagzi"));

    Ended ended = checkout.start(link, "dev", "--name", "two words", "", "*").end();

    assertThat(ended.exit()).isZero();
    assertThat(ended.err()).first().asString().startsWith(FIRST_BUILD);
    assertThat(ended.err())
        .as("a first build shows all output of Maven")
        .contains("[WARNING] nobody needs this");
    assertThat(ended.out()).containsSubsequence("-Dkagzi.root=" + checkout.root, "-jar");
    assertThat(ended.out()).endsWith("dev", "--name", "two words", "", "*", "end of arguments");
    assertThat(Path.of(ended.jar())).hasContent("1");
  }

  @Test
  void torture_on_the_oldest_postgres_is_a_program_of_its_own() throws Exception {
    checkout.complete();
    LauncherCheckout.write(checkout.root.resolve("torture/pom.xml"), "");
    LauncherCheckout.write(checkout.root.resolve("torture/src/main/java/Main.java"), "");

    Ended newest = checkout.run("torture", "--minutes", "14");
    Ended oldest = checkout.run("torture", "--minutes", "1", "--postgres", "14");
    Ended again = checkout.run("torture", "--postgres=14");

    assertThat(oldest.jar()).isNotEqualTo(newest.jar()).isEqualTo(again.jar());
    assertThat(oldest.out()).endsWith("--postgres", "14", "end of arguments");
    List<String> builds = Files.readAllLines(checkout.fakes.resolve("builds"));
    assertThat(builds).hasSize(2);
    assertThat(builds.get(0)).doesNotContain("kagzi.postgres");
    assertThat(builds.get(1)).contains("-Dkagzi.postgres=14");
  }

  @Test
  void the_shop_starts_with_the_java_of_the_launcher_and_is_built_once() throws Exception {
    checkout.complete();
    Path shop = checkout.shop();

    Ended first = checkout.start(shop, "--server.port=9090").end();
    Ended again = checkout.start(shop).end();

    assertThat(first.err()).first().asString().startsWith("kagzi: building examples/spring-shop ");
    assertThat(first.err()).last().asString().matches("kagzi: starting the shop, process \\d+");
    assertThat(first.out()).startsWith("started by " + folder.toRealPath() + "/jdk/bin/java");
    assertThat(first.out()).endsWith(first.jar(), "--server.port=9090", "end of arguments");
    assertThat(again.jar()).isEqualTo(first.jar());
    assertThat(Files.readAllLines(checkout.fakes.resolve("builds")))
        .singleElement()
        .asString()
        .contains("-Dmaven.test.skip=true", "-pl examples/spring-shop");
  }

  @Test
  void the_shop_is_not_built_without_a_java_that_can_run_it() throws Exception {
    checkout.complete();
    Path shop = checkout.shop();
    checkout.environment.put("JAVA_HOME", checkout.addJdk("old", 17).toString());

    Ended ended = checkout.start(shop).end();

    assertThat(ended.exit()).isEqualTo(1);
    assertThat(ended.err()).singleElement().asString().contains("no JDK 21 or newer");
    assertThat(checkout.builds()).isZero();
  }

  @Test
  void sources_that_have_not_changed_are_not_built_again() throws Exception {
    checkout.complete();
    Ended first = checkout.run("dev");

    Ended second = checkout.run("dev");

    assertThat(second.jar()).isEqualTo(first.jar());
    assertThat(second.err()).isEmpty();
    assertThat(checkout.builds()).isEqualTo(1);
  }

  @Test
  void sources_that_were_edited_added_or_deleted_are_built_again() throws Exception {
    checkout.complete();
    Path other = checkout.source().resolveSibling("Other.java");
    List<String> jars = new ArrayList<>(List.of(checkout.run("dev").jar()));

    Files.writeString(checkout.source(), "edited");
    Ended edited = checkout.run("dev");
    jars.add(edited.jar());
    Files.writeString(other, "added");
    jars.add(checkout.run("dev").jar());
    Files.delete(other);
    jars.add(checkout.run("dev").jar());

    assertThat(edited.err()).hasSize(2);
    assertThat(edited.err().getFirst())
        .matches(
            "kagzi: building kagzi-cli, because sources have changed; the last build took \\d+ s");
    assertThat(edited.err().getLast()).isEqualTo("kagzi: building kagzi-engine [1/2]");
    assertThat(jars).doesNotHaveDuplicates();
    assertThat(checkout.builds()).isEqualTo(4);
  }

  @Test
  void sources_that_were_edited_during_the_build_are_built_by_the_next_start() throws Exception {
    checkout.complete();
    LauncherCheckout.write(checkout.fakes.resolve("editor"), "");

    Ended first = checkout.run("dev");
    Ended second = checkout.run("dev");

    assertThat(first.jar()).isNotEmpty();
    assertThat(second.jar()).isNotEqualTo(first.jar());
    assertThat(checkout.builds()).isEqualTo(2);
  }

  @Test
  void deciding_that_nothing_has_changed_is_quick_with_all_our_sources() throws Exception {
    checkout.complete();
    linkOurSources();
    checkout.run("dev");
    List<Duration> times = new ArrayList<>();

    for (int i = 0; i < 9; i++) {
      long begun = System.nanoTime();
      checkout.run("dev");
      times.add(Duration.ofNanos(System.nanoTime() - begun));
    }

    assertThat(checkout.builds()).isEqualTo(1);
    // About 20 ms, mostly for starting a few processes; busy machines need longer.
    Duration median = times.stream().sorted().toList().get(4);
    assertThat(median).isLessThan(Duration.ofMillis(500));
  }

  @Test
  void a_jar_of_an_earlier_version_does_not_disturb() throws Exception {
    checkout.complete();
    LauncherCheckout.write(
        checkout.root.resolve("kagzi-cli/target/quick/kagzi-cli-0.0.9-all.jar"), "old");

    assertThat(checkout.run("version").err()).doesNotContain("made no jar");
  }

  // The modules that Maven writes to are not linked.
  private void linkOurSources() throws IOException {
    try (Stream<Path> modules = Files.list(Path.of("..").toRealPath())) {
      for (Path module : modules.filter(each -> Files.exists(each.resolve("src/main"))).toList()) {
        boolean written = module.endsWith("kagzi-cli") || module.endsWith("torture");
        Path link = checkout.root.resolve(module.getFileName() + (written ? "-too" : ""));
        Files.createSymbolicLink(link, module);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"dev", "server", "--help", "version", "dev --help", "workflow list"})
  void every_short_command_starts_with_the_trained_archive_whichever_came_first(String first)
      throws Exception {
    checkout.complete();
    checkout.run(first.split(" "));
    assertThat(checkout.trainings()).as("trainings before the first short command").isEqualTo(1);

    List<Ended> all = new ArrayList<>();
    for (String command : List.of("workflow list", "version", "dev --help", "server -h", "")) {
      all.add(checkout.run(command.split(" ")));
    }

    assertThat(all)
        .allSatisfy(
            ended -> {
              assertThat(ended.archive()).hasContent("classes");
              assertThat(ended.writesArchive()).isFalse();
              assertThat(ended.err()).isEmpty();
            });
    assertThat(all.stream().map(Ended::archive).distinct()).hasSize(1);
    assertThat(checkout.trainings()).isEqualTo(1);
  }

  @Test
  void a_server_writes_its_own_archive_which_help_does_not_replace() throws Exception {
    checkout.complete();

    Ended help = checkout.run("dev", "--help");
    Ended server = checkout.run("dev");

    assertThat(server.writesArchive()).isTrue();
    assertThat(server.archive()).isNotEqualTo(help.archive());
  }

  @Test
  void an_archive_belongs_to_one_jar_and_one_version_of_java() throws Exception {
    checkout.complete();
    Path first = checkout.run("version").archive();

    checkout.environment.put("JAVA_HOME", checkout.addJdk("other", 26).toString());
    Path otherJava = checkout.run("version").archive();
    Files.writeString(checkout.source(), "edited");
    Path otherJar = checkout.run("version").archive();

    assertThat(List.of(first, otherJava, otherJar))
        .doesNotHaveDuplicates()
        .allSatisfy(archive -> assertThat(archive).hasContent("classes"));
    assertThat(checkout.trainings()).isEqualTo(3);
  }

  @Test
  void a_failed_training_run_is_not_repeated_and_does_not_stop_commands() throws Exception {
    checkout.complete();
    LauncherCheckout.write(checkout.fakes.resolve("untrainable"), "");

    Ended first = checkout.run("version");
    Ended second = checkout.run("version");

    assertThat(first.exit()).isZero();
    assertThat(second.exit()).isZero();
    assertThat(second.archive()).isEmptyFile();
    assertThat(checkout.trainings()).isEqualTo(1);
  }

  @Test
  void a_jar_in_use_is_neither_overwritten_nor_removed() throws Exception {
    checkout.complete();
    Running server = checkout.start(checkout.root.resolve("kagzi"), "dev").awaitStarted();
    Path used = jars().getFirst();

    for (int i = 0; i < 3; i++) {
      Files.writeString(checkout.source(), "edited " + i);
      checkout.run("dev");
      assertThat(used).hasContent("1");
    }
    assertThat(checkout.builds()).isEqualTo(4);
    assertThat(jars()).as("in use, current, and the one before").hasSize(3);
    server.end();

    Files.writeString(checkout.source(), "edited once more");
    checkout.run("dev");
    assertThat(used).doesNotExist();
  }

  private List<Path> jars() throws IOException {
    try (Stream<Path> files = Files.list(checkout.state())) {
      return files.filter(file -> file.toString().endsWith(".jar")).toList();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void second_start_waits_for_the_build_of_the_first(boolean flock) throws Exception {
    assumeTrue(!flock || checkout.linkTool("flock"));
    checkout.complete();
    checkout.holdBuilds();
    Path launcher = checkout.root.resolve("kagzi");
    Running first = checkout.start(launcher, "dev");
    assertThat(first.said()).startsWith(FIRST_BUILD);

    Running second = checkout.start(launcher, "dev");
    assertThat(second.said()).startsWith("kagzi: waiting for another build");
    checkout.openGate();

    assertThat(second.awaitStarted().end().jar()).isEqualTo(first.awaitStarted().end().jar());
    assertThat(checkout.builds()).isEqualTo(1);
  }

  @Test
  void a_build_that_died_does_not_block_others() throws Exception {
    checkout.complete();
    Process dead = new ProcessBuilder("true").start();
    dead.waitFor();
    Files.createDirectories(checkout.state());
    Files.createSymbolicLink(
        checkout.state().resolve("lock.link"), Path.of(Long.toString(dead.pid())));

    Ended ended = checkout.run("dev");

    assertThat(ended.err()).first().asString().startsWith(FIRST_BUILD);
    assertThat(ended.jar()).isNotEmpty();
  }

  @Test
  void a_failed_build_is_reported_and_retried_by_the_next_start() throws Exception {
    checkout.complete();
    checkout.run("dev");
    LauncherCheckout.write(checkout.fakes.resolve("broken"), "");
    Files.writeString(checkout.source(), "edited");

    Ended failed = checkout.run("dev");
    Files.delete(checkout.fakes.resolve("broken"));
    Ended again = checkout.run("dev");

    assertThat(failed.exit()).isEqualTo(1);
    assertThat(failed.err())
        .endsWith("[ERROR] Main.java:[1,1] no class", "kagzi: the build of kagzi-cli failed");
    assertThat(failed.out()).isEmpty();
    assertThat(again.jar()).isNotEmpty();
  }

  enum Launcher {
    CHECKOUT,
    RELEASE
  }

  private Running startServer(Launcher launcher) throws IOException {
    checkout.complete();
    return checkout.start(
        launcher == Launcher.CHECKOUT ? checkout.root.resolve("kagzi") : checkout.release(),
        "server",
        "--port",
        "0");
  }

  @ParameterizedTest
  @EnumSource
  void a_server_that_failed_is_started_again_after_a_growing_pause(Launcher launcher)
      throws Exception {
    checkout.javaEndsWith(70, 3);

    Ended ended = startServer(launcher).awaitStarted().awaitStarted().awaitStarted().terminate();

    assertThat(ended.exit()).isZero();
    assertThat(ended.out()).endsWith("terminated").contains("-XX:+ExitOnOutOfMemoryError");
    assertThat(ended.err())
        .filteredOn(line -> line.contains("started again"))
        .containsExactly(
            "kagzi: the server ended with exit code 70 and is started again in 1 s"
                + " (KAGZI_RESTART=no turns this off)",
            "kagzi: the server ended with exit code 3 and is started again in 2 s"
                + " (KAGZI_RESTART=no turns this off)");
  }

  @ParameterizedTest
  @EnumSource
  void a_signal_ends_the_pause_before_a_restart(Launcher launcher) throws Exception {
    checkout.javaEndsWith(70, 70, 70, 70, 70, 70, 70, 70);
    Running server = startServer(launcher).awaitStarted();
    while (!server.said().contains("is started again in 1 s")) {
      // Skips the lines of the build.
    }

    assertThat(server.terminate().exit()).isZero();
  }

  @ParameterizedTest
  @EnumSource
  void any_other_exit_code_of_a_server_is_the_launchers(Launcher launcher) throws Exception {
    checkout.javaEndsWith(2);

    Ended ended = startServer(launcher).awaitStarted().end();

    assertThat(ended.exit()).isEqualTo(2);
    assertThat(ended.err()).filteredOn(line -> line.contains("started again")).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void a_server_that_is_supervised_elsewhere_replaces_the_launchers_process(Launcher launcher)
      throws Exception {
    checkout.environment.put("KAGZI_RESTART", "no");
    checkout.javaEndsWith(70);

    Ended ended = startServer(launcher).awaitStarted().end();

    assertThat(ended.exit()).isEqualTo(70);
    assertThat(ended.out()).noneMatch(line -> line.startsWith("-Dkagzi.launcher="));
    assertThat(ended.err()).filteredOn(line -> line.contains("started again")).isEmpty();
  }

  @Test
  void without_a_jdk_21_or_newer_one_line_reports_it() throws Exception {
    checkout.complete();
    checkout.environment.put("JAVA_HOME", checkout.addJdk("old", 17).toString());
    checkout.addJdk("usr/lib/jvm/older", 11);

    Ended ended = checkout.run("dev");

    assertThat(ended.exit()).isEqualTo(1);
    assertThat(ended.err())
        .singleElement()
        .asString()
        .startsWith("kagzi: no JDK 21 or newer in JAVA_HOME, on the PATH,")
        .contains("expected: an installed JDK, or JAVA_HOME set to one");
    assertThat(checkout.builds()).isZero();
  }

  @Test
  void without_java_home_the_newest_installed_jdk_is_used() throws Exception {
    checkout.complete();
    checkout.environment.remove("JAVA_HOME");
    checkout.addJdk("usr/lib/jvm/seventeen", 17);
    Path newest = checkout.addJdk(".sdkman/candidates/java/twenty-six", 26);
    checkout.addJdk("usr/lib/jvm/twenty-one", 21);

    Ended ended = checkout.run("dev");

    assertThat(ended.out()).first().isEqualTo("started by " + newest.resolve("bin/java"));
  }

  @Test
  void without_maven_one_line_reports_it() throws Exception {
    checkout.complete();
    Files.delete(checkout.fakes.resolve("mvn"));

    Ended ended = checkout.run("dev");

    assertThat(ended.exit()).isEqualTo(1);
    assertThat(ended.err())
        .containsExactly(
            "kagzi: Maven is needed to build Kagzi (expected: mvn 3.8.7 or newer on the PATH)");
  }

  @Test
  void a_program_whose_sources_are_not_here_is_refused_in_one_line() throws Exception {
    checkout.complete();

    Ended ended = checkout.run("torture");

    assertThat(ended.exit()).isEqualTo(1);
    assertThat(ended.err())
        .containsExactly(
            "kagzi: there is no 'torture' here yet (expected: its sources in torture)");
    assertThat(checkout.builds()).isZero();
  }
}
