package dev.kagzi.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A checkout with the launcher, in a folder whose name has a space, with a fake Maven and a fake
 * Java. Maven writes a jar that contains its build number. Java prints its arguments and waits for
 * the end of its input or for SIGTERM; or it exits at once with the next code of {@link
 * #javaEndsWith}.
 */
final class LauncherCheckout implements AutoCloseable {
  private static final Path LAUNCHER = Path.of("..", "kagzi");

  private static final List<String> TOOLS =
      List.of(
          "cat",
          "cp",
          "date",
          "find",
          "head",
          "ln",
          "mkdir",
          "mv",
          "readlink",
          "rm",
          "sleep",
          "touch",
          "tr",
          "wc");

  private static final String MAVEN =
      """
      #!/bin/sh
      echo build "$@" >>"$FAKES/builds"
      echo '[INFO] Building kagzi-engine 0.1.0-SNAPSHOT                     [1/2]'
      echo '[INFO] Building jar: kagzi-engine.jar'
      echo '[WARNING] nobody needs this'
      [ ! -p "$FAKES/gate" ] || read -r open <"$FAKES/gate"
      [ ! -e "$FAKES/editor" ] || { sleep 0.1; rm "$FAKES/editor"; echo edited >kagzi-cli/src/main/java/Main.java; }
      [ ! -e "$FAKES/broken" ] || { echo '[ERROR] Main.java:[1,1] no class'; exit 1; }
      for module in kagzi-cli torture; do
        mkdir -p $module/target/quick
        wc -l <"$FAKES/builds" | tr -d ' ' >$module/target/quick/$module-all.jar
      done
      mkdir -p examples/spring-shop/target
      wc -l <"$FAKES/builds" | tr -d ' ' >examples/spring-shop/target/spring-shop-0.1.jar
      """;

  private static final String JAVA =
      """
      #!/bin/sh
      for argument; do
        case $argument in
          -XX:ArchiveClassesAtExit=*)
            echo training >>"$FAKES/trainings"
            [ ! -e "$FAKES/untrainable" ] || exit 1
            echo classes >"${argument#*=}"
            exit 0
            ;;
        esac
      done
      trap 'echo terminated; exit 0' TERM
      echo started by "$0"
      for argument; do printf '%s\\n' "$argument"; done
      echo end of arguments
      if [ -s "$FAKES/exits" ]; then
        { read -r code; cat >"$FAKES/exits.new"; } <"$FAKES/exits"
        mv "$FAKES/exits.new" "$FAKES/exits"
        exit "$code"
      fi
      exec 3<&0
      cat >/dev/null 2>&1 <&3 &
      wait $!
      """;

  final Path folder;
  final Path root;
  final Path fakes;
  final Map<String, String> environment = new HashMap<>();
  private final List<Process> processes = new ArrayList<>();

  LauncherCheckout(Path folder) throws IOException {
    this.folder = folder;
    this.root = Files.createDirectories(folder.resolve("a checkout"));
    this.fakes = Files.createDirectories(folder.resolve("fakes"));
    Files.copy(LAUNCHER, root.resolve("kagzi"), StandardCopyOption.COPY_ATTRIBUTES);
    for (String tool : TOOLS) {
      linkTool(tool);
    }
    environment.put("PATH", fakes.toString());
    environment.put("FAKES", fakes.toString());
    environment.put("HOME", folder.toString());
    environment.put("KAGZI_JDK_ROOT", folder.toString());
  }

  /** Adds sources, Maven and a JDK: everything that the launcher needs. */
  LauncherCheckout complete() throws IOException {
    write(root.resolve("pom.xml"), "");
    write(root.resolve("kagzi-cli/pom.xml"), "");
    write(source(), "");
    writeProgram(fakes.resolve("mvn"), MAVEN);
    environment.put("JAVA_HOME", addJdk("jdk", 25).toString());
    return this;
  }

  Path source() {
    return root.resolve("kagzi-cli/src/main/java/Main.java");
  }

  Path state() {
    return root.resolve(".kagzi");
  }

  /** Adds a JDK of that version under a path in this folder. */
  Path addJdk(String path, int major) throws IOException {
    Path home = folder.resolve(path);
    write(home.resolve("release"), "IMPLEMENTOR=\"us\"\nJAVA_VERSION=\"" + major + ".0.1\"\n");
    writeProgram(home.resolve("bin/javac"), "");
    writeProgram(home.resolve("bin/java"), JAVA);
    return home;
  }

  /** Makes the first starts of Java exit at once with these codes. */
  void javaEndsWith(int... codes) throws IOException {
    StringBuilder lines = new StringBuilder();
    for (int code : codes) {
      lines.append(code).append('\n');
    }
    write(fakes.resolve("exits"), lines.toString());
  }

  /** Returns the launcher of a release, which starts the same Java. */
  Path release() throws IOException {
    Path launcher = folder.resolve("a release/bin/kagzi");
    Files.createDirectories(launcher.getParent());
    Files.copy(Path.of("src/dist/bin/kagzi"), launcher, StandardCopyOption.COPY_ATTRIBUTES);
    return launcher;
  }

  /** Adds the sources of the shop; returns the script that starts it. */
  Path shop() throws IOException {
    Path shop = root.resolve("examples/spring-shop");
    write(shop.resolve("pom.xml"), "");
    write(shop.resolve("src/main/java/Shop.java"), "");
    Files.copy(
        Path.of("..", "examples", "spring-shop", "start"),
        shop.resolve("start"),
        StandardCopyOption.COPY_ATTRIBUTES);
    linkTool("dirname");
    return shop.resolve("start");
  }

  boolean linkTool(String tool) throws IOException {
    Optional<Path> found =
        Stream.of(System.getenv("PATH").split(":"))
            .map(each -> Path.of(each, tool))
            .filter(Files::isExecutable)
            .findFirst();
    if (found.isPresent()) {
      Files.createSymbolicLink(fakes.resolve(tool), found.get());
    }
    return found.isPresent();
  }

  static void write(Path file, String text) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  private static void writeProgram(Path file, String text) throws IOException {
    write(file, text);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  int builds() throws IOException {
    return lines("builds");
  }

  /** Returns how often the class archive of the short commands was made. */
  int trainings() throws IOException {
    return lines("trainings");
  }

  private int lines(String name) throws IOException {
    Path log = fakes.resolve(name);
    return Files.exists(log) ? Files.readAllLines(log).size() : 0;
  }

  /** Makes each build wait for {@link #openGate} from now on. */
  void holdBuilds() throws Exception {
    Process made = new ProcessBuilder("mkfifo", fakes.resolve("gate").toString()).start();
    if (made.waitFor() != 0) {
      throw new AssertionError("no named pipe");
    }
  }

  /** Lets one build continue, and waits for it to arrive. */
  void openGate() throws IOException {
    Files.writeString(fakes.resolve("gate"), "go on\n");
  }

  /** The output of a launcher that has ended. */
  record Ended(int exit, List<String> out, List<String> err) {

    /** Returns the class archive file. */
    Path archive() {
      String option = "-XX:SharedArchiveFile=";
      return out.stream()
          .filter(argument -> argument.startsWith(option))
          .map(argument -> Path.of(argument.substring(option.length())))
          .findFirst()
          .orElseThrow(() -> new AssertionError("no archive: " + this));
    }

    /** Whether Java writes the archive itself, at the end of this run. */
    boolean writesArchive() {
      return out.contains("-XX:+AutoCreateSharedArchive");
    }

    /** Returns the jar that the program was started with. */
    String jar() {
      int option = out.indexOf("-jar");
      if (option < 0) {
        throw new AssertionError("Java was not started: " + this);
      }
      return out.get(option + 1);
    }
  }

  /** Starts the launcher without input and waits for its end. */
  Ended run(String... arguments) throws Exception {
    Running running = start(root.resolve("kagzi"), arguments);
    return running.end();
  }

  /** Starts the launcher; its program runs until its input ends. */
  Running start(Path launcher, String... arguments) throws IOException {
    List<String> command = new ArrayList<>(List.of(launcher.toString()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
    builder.environment().clear();
    builder.environment().putAll(environment);
    Process process = builder.start();
    processes.add(process);
    return new Running(process);
  }

  static final class Running {
    private final Process process;
    private final BufferedReader out;
    private final BufferedReader err;
    private final List<String> outLines = new ArrayList<>();

    private Running(Process process) {
      this.process = process;
      this.out = process.inputReader(UTF_8);
      this.err = process.errorReader(UTF_8);
    }

    /** Returns the next line of standard error. */
    String said() throws IOException {
      return String.valueOf(err.readLine());
    }

    /** Returns when the program runs. */
    Running awaitStarted() throws IOException {
      for (String line = out.readLine(); line != null; line = out.readLine()) {
        outLines.add(line);
        if (line.equals("end of arguments")) {
          return this;
        }
      }
      throw new AssertionError("ended before the program ran: " + err.lines().toList());
    }

    /** Sends SIGTERM to the launcher, which must end by itself. */
    Ended terminate() throws Exception {
      // Process.destroy would close the streams, too.
      process.toHandle().destroy();
      if (!process.waitFor(20, TimeUnit.SECONDS)) {
        throw new AssertionError("the launcher still runs");
      }
      return end();
    }

    Ended end() throws Exception {
      process.getOutputStream().close();
      outLines.addAll(out.lines().toList());
      List<String> errLines = err.lines().toList();
      if (!process.waitFor(20, TimeUnit.SECONDS)) {
        throw new AssertionError("the launcher still runs");
      }
      return new Ended(process.exitValue(), List.copyOf(outLines), errLines);
    }
  }

  @Override
  public void close() {
    processes.forEach(Process::destroyForcibly);
  }
}
