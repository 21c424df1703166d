package dev.kagzi.postgres;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A running server process, and the shell that supervises it. */
final class Postmaster {

  private static final Logger log = LoggerFactory.getLogger(Postmaster.class);

  /**
   * Arguments: the log file, the signal that stops the server, a folder to delete at the end or an
   * empty string, the command.
   *
   * <p>The shell's standard input is a pipe that only this JVM holds: when it closes, the shell
   * stops the server. The shell repeats the signal, because a server that has just started may not
   * handle it yet. After a minute the shell uses SIGQUIT, which loses no committed data either. The
   * shell prints the server's pid.
   */
  private static final String WATCH =
      """
      log=$1 signal=$2 delete=$3
      shift 3
      trap : HUP INT TERM
      exec 3<&0 0</dev/null
      "$@" 3<&- >>"$log" 2>&1 &
      server=$!
      echo "$server"
      exec >/dev/null 2>&1
      {
        read -r _ <&3
        n=0
        while kill -"$signal" "$server"; do
          sleep 1
          n=$((n + 1))
          [ "$n" -lt 60 ] || signal=QUIT
        done
      } &
      watch=$!
      exec 3<&-
      while kill -0 "$server"; do
        wait "$server"
      done
      kill "$watch"
      [ -z "$delete" ] || rm -rf -- "$delete"
      """;

  /**
   * Crash recovery reads the write-ahead log since the last checkpoint, so a start may take long.
   */
  private static final long READY_SECONDS_MAX = 300;

  private static final long STOP_SECONDS_MAX = 90;

  private static final long LEFTOVER_SECONDS_MAX = 30;

  private final Process watcher;
  private final long pid;
  private final int port;

  private Postmaster(Process watcher, long pid, int port) {
    this.watcher = watcher;
    this.pid = pid;
    this.port = port;
  }

  /** Starts the server and waits until it accepts connections; empty if it exited before that. */
  static Optional<Postmaster> start(
      ServerDirectory directory, List<String> server, int port, StopMode mode) throws IOException {
    Postmaster started = spawn(directory, server, port, mode);
    boolean ready = false;
    try {
      ready = started.awaitReady(directory);
    } finally {
      if (!ready) {
        started.stop();
      }
    }
    return ready ? Optional.of(started) : Optional.empty();
  }

  /** How the shell ends the server, at {@link #stop} or when this JVM has ended. */
  enum StopMode {
    /** Closes sessions, writes a checkpoint and keeps the folder. */
    KEEP,
    /** Stops at once and deletes the folder. */
    DELETE
  }

  private static Postmaster spawn(
      ServerDirectory directory, List<String> server, int port, StopMode mode) throws IOException {
    List<String> command = new ArrayList<>(ownSession());
    command.addAll(List.of("sh", "-c", WATCH, "kagzi-postgres", directory.log().toString()));
    switch (mode) {
      case KEEP -> command.addAll(List.of("INT", ""));
      case DELETE -> command.addAll(List.of("QUIT", directory.root().toString()));
    }
    command.addAll(server);
    Process watcher =
        Command.of(command)
            .redirectError(ProcessBuilder.Redirect.to(new File("/dev/null")))
            .start();
    // The shell closes its output after this line, so the reader is not kept.
    BufferedReader output =
        new BufferedReader(
            new InputStreamReader(watcher.getInputStream(), StandardCharsets.US_ASCII));
    String pid = output.readLine();
    if (pid == null) {
      throw new EmbeddedPostgresException("cannot start a shell for PostgreSQL");
    }
    return new Postmaster(watcher, Long.parseLong(pid), port);
  }

  /**
   * Returns a command prefix that starts a new session; empty if the machine has no such command.
   * Ctrl-C in a terminal signals every process of the foreground group, and PostgreSQL would stop
   * before its clients have finished.
   */
  private static List<String> ownSession() {
    if (Files.isExecutable(Path.of("/usr/bin/setsid"))) {
      return List.of("/usr/bin/setsid");
    }
    if (Files.isExecutable(Path.of("/usr/bin/perl"))) {
      return List.of("/usr/bin/perl", "-MPOSIX", "-e", "POSIX::setsid(); exec @ARGV", "--");
    }
    return List.of();
  }

  private boolean awaitReady(ServerDirectory directory) throws IOException {
    Path status = directory.data().resolve("postmaster.pid");
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(READY_SECONDS_MAX);
    while (System.nanoTime() < deadline) {
      if (isReady(status)) {
        return true;
      }
      if (ended(10, TimeUnit.MILLISECONDS)) {
        return false;
      }
    }
    throw new EmbeddedPostgresException(
        "PostgreSQL in "
            + directory.root()
            + " is not ready after "
            + READY_SECONDS_MAX
            + " s:"
            + directory.logTail());
  }

  /** Reads the file that pg_ctl waits on: line 1 is the pid, line 8 the state. */
  private boolean isReady(Path status) throws IOException {
    try {
      List<String> lines = Files.readAllLines(status);
      return lines.size() >= 8
          && lines.getFirst().strip().equals(Long.toString(pid))
          && lines.get(7).strip().equals("ready");
    } catch (NoSuchFileException notYet) {
      return false;
    }
  }

  long pid() {
    return pid;
  }

  int port() {
    return port;
  }

  boolean isAlive() {
    return watcher.isAlive();
  }

  CompletableFuture<Void> onExit() {
    return watcher.onExit().thenAccept(ended -> {});
  }

  /** Closes the pipe, as the end of this JVM would, and waits until the server has ended. */
  void stop() {
    try {
      watcher.getOutputStream().close();
    } catch (IOException alreadyGone) {
      log.atDebug().setCause(alreadyGone).log("pipe of the shell was closed before");
    }
    if (!ended(STOP_SECONDS_MAX, TimeUnit.SECONDS)) {
      throw new EmbeddedPostgresException(
          "PostgreSQL (process " + pid + ") did not stop within " + STOP_SECONDS_MAX + " s");
    }
  }

  /**
   * Returns whether the shell has ended within this time. An interrupt does not end the wait, and
   * is restored for the caller.
   */
  private boolean ended(long amount, TimeUnit unit) {
    boolean interrupted = false;
    long deadline = System.nanoTime() + unit.toNanos(amount);
    try {
      while (true) {
        try {
          return watcher.waitFor(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Stops a server whose JVM and shell were both killed. If another process has its pid now, only
   * deletes the pid file: PostgreSQL would take that process for a live server.
   */
  static void stopLeftover(ServerDirectory directory) throws IOException {
    Path file = directory.data().resolve("postmaster.pid");
    if (!Files.exists(file)) {
      return;
    }
    Optional<ProcessHandle> process = ProcessHandle.of(leftoverPid(file));
    if (process.isEmpty() || !isServerOf(process.get(), directory.data())) {
      Files.deleteIfExists(file);
      return;
    }
    log.atWarn()
        .addKeyValue("pid", process.get().pid())
        .addKeyValue("folder", directory.root())
        .log("postgres of an earlier owner still runs, stopping it");
    if (!stopped(process.get(), file, "INT") && !stopped(process.get(), file, "QUIT")) {
      throw new EmbeddedPostgresException(
          "PostgreSQL of an earlier owner (process "
              + process.get().pid()
              + ") in "
              + directory.root()
              + " does not stop (expected: to be stopped by you)");
    }
  }

  private static long leftoverPid(Path file) throws IOException {
    List<String> lines = Files.readAllLines(file);
    return lines.isEmpty() ? 0 : Math.abs(Long.parseLong(lines.getFirst().strip()));
  }

  private static boolean isServerOf(ProcessHandle process, Path data) throws IOException {
    if (isZombie(process.pid())) {
      return false;
    }
    // An unknown command line counts as a match: a refused start is better than two servers on one
    // folder.
    return process.info().commandLine().map(line -> line.contains(data.toString())).orElse(true);
  }

  /**
   * Returns whether the process is dead but still listed, or vanished while its status was read. In
   * a container an orphan's exit code may never be collected.
   */
  static boolean isZombie(long pid) throws IOException {
    Path stat = Path.of("/proc", Long.toString(pid), "stat");
    try {
      return Files.exists(stat) && Files.readString(stat).contains(") Z ");
    } catch (IOException gone) {
      return !Files.exists(stat);
    }
  }

  /**
   * Sends the signal and waits until the process has ended or has deleted its pid file, which a
   * server does last.
   */
  private static boolean stopped(ProcessHandle process, Path pidFile, String signal)
      throws IOException {
    Command.succeeds(List.of("kill", "-" + signal, Long.toString(process.pid())));
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LEFTOVER_SECONDS_MAX);
    while (process.isAlive() && Files.exists(pidFile) && !isZombie(process.pid())) {
      if (System.nanoTime() > deadline) {
        return false;
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
    }
    return true;
  }
}
