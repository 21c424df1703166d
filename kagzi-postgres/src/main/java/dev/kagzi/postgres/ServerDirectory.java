package dev.kagzi.postgres;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * The folder of one server: its lock, password, log and PostgreSQL's data directory. An instance
 * owns the folder exclusively until {@link #close}.
 */
final class ServerDirectory implements AutoCloseable {

  static final String USER = "postgres";
  static final String DATA = "pgdata";

  private static final String LOCK = "server.lock";

  // The root of a mounted file system may contain this folder from the beginning.
  private static final String LOST_AND_FOUND = "lost+found";

  private static final Set<PosixFilePermission> OWNER_ONLY =
      PosixFilePermissions.fromString("rw-------");

  /**
   * Folders owned by this JVM. The file lock is for other processes only: closing a second handle
   * of the file in this JVM would release the lock.
   */
  private static final Set<Path> OWNED = ConcurrentHashMap.newKeySet();

  private final Path root;
  private final FileChannel channel;

  private ServerDirectory(Path root, FileChannel channel) {
    this.root = root;
    this.channel = channel;
  }

  static ServerDirectory open(Path path) throws IOException {
    if (!Files.isDirectory(path)) {
      Files.createDirectories(
          path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }
    Path root = path.toRealPath();
    refuseForeign(root);
    if (!OWNED.add(root)) {
      throw inUse(root, Long.toString(ProcessHandle.current().pid()));
    }
    try {
      return new ServerDirectory(root, lock(root));
    } catch (IOException | RuntimeException e) {
      OWNED.remove(root);
      throw e;
    }
  }

  /** Refuses a folder with foreign files: the user may have named a wrong folder. */
  private static void refuseForeign(Path root) throws IOException {
    if (Files.exists(root.resolve(LOCK)) || Files.isDirectory(root.resolve(DATA))) {
      return;
    }
    try (Stream<Path> files = Files.list(root)) {
      Optional<String> foreign =
          files
              .map(file -> root.relativize(file).toString())
              .filter(name -> !name.equals(LOST_AND_FOUND))
              .sorted()
              .findFirst();
      if (foreign.isPresent()) {
        throw new EmbeddedPostgresException(
            ("data directory %s holds %s, which is not ours (expected: a folder that is empty, new,"
                    + " or of an earlier start)")
                .formatted(root, foreign.get()));
      }
    }
  }

  private static FileChannel lock(Path root) throws IOException {
    Path file = root.resolve(LOCK);
    FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    // The lock is released when the channel is closed, in close().
    FileLock lock = channel.tryLock();
    if (lock == null) {
      channel.close();
      throw inUse(root, Files.readString(file).strip());
    }
    channel.truncate(0);
    String pid = ProcessHandle.current().pid() + "\n";
    channel.write(ByteBuffer.wrap(pid.getBytes(StandardCharsets.UTF_8)), 0);
    return channel;
  }

  private static EmbeddedPostgresException inUse(Path root, String pid) {
    return new EmbeddedPostgresException(
        "data directory " + root + " is in use by process " + pid + " (expected: one owner)");
  }

  Path root() {
    return root;
  }

  Path data() {
    return root.resolve(DATA);
  }

  Path log() {
    return root.resolve("postgres.log");
  }

  Path passwordFile() {
    return root.resolve("password");
  }

  String password() {
    return read(passwordFile());
  }

  private Path portFile() {
    return root.resolve("port");
  }

  /** Returns the port of the last start; 0 if there is none, or if a crash has cut off its file. */
  int recordedPort() {
    String text = Files.exists(portFile()) ? read(portFile()) : "";
    return text.matches("[0-9]{1,5}") ? Integer.parseInt(text) : 0;
  }

  void recordPort(int port) throws IOException {
    Files.writeString(portFile(), port + "\n");
  }

  private String read(Path file) {
    try {
      return Files.readString(file).strip();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Creates the database cluster unless it exists. It is created under another name and then
   * renamed, so that a partial one is never used.
   */
  void initialize(Binaries binaries, Account account, boolean durable) throws IOException {
    if (Files.isDirectory(data())) {
      checkVersion(binaries);
      checkPassword();
      account.own(root);
      return;
    }
    Path fresh = root.resolve(DATA + ".init");
    Folders.delete(fresh);
    writePassword();
    account.own(root);
    int exit = Command.runLogged(account.command(initdb(binaries, fresh, durable)), log(), 300);
    if (exit != 0) {
      throw new EmbeddedPostgresException(
          "initdb failed in " + root + " with exit code " + exit + ":" + logTail());
    }
    Files.move(fresh, data(), StandardCopyOption.ATOMIC_MOVE);
    Folders.sync(root);
  }

  private List<String> initdb(Binaries binaries, Path fresh, boolean durable) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                binaries.program("initdb"),
                "--pgdata=" + fresh,
                "--username=" + USER,
                "--pwfile=" + passwordFile(),
                "--auth=scram-sha-256",
                "--encoding=UTF8",
                "--locale=" + (UserDirs.isMac() ? "C" : "C.UTF-8")));
    int version = binaries.majorVersionNumber();
    if (durable) {
      // Needed before version 18, whose initdb enables checksums by default.
      command.add("--data-checksums");
    } else {
      command.add("--no-sync");
      if (version >= 18) {
        command.add("--no-data-checksums");
      }
    }
    // Otherwise a client computes thousands of hashes for each connection. They protect a password
    // that can be guessed, and this one is random. The server has the usual number for others.
    if (EmbeddedPostgres.FAST && !durable && version >= 16) {
      command.add("--set=scram_iterations=1");
    }
    return command;
  }

  private void writePassword() throws IOException {
    byte[] random = new byte[24];
    new SecureRandom().nextBytes(random);
    Path file = passwordFile();
    Files.deleteIfExists(file);
    Files.createFile(file, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
    Files.writeString(file, Base64.getUrlEncoder().withoutPadding().encodeToString(random) + "\n");
  }

  /** Restores the permissions: a copy or backup may have made the file readable to others. */
  private void checkPassword() throws IOException {
    if (!Files.isReadable(passwordFile())) {
      throw new EmbeddedPostgresException(
          "data directory %s: no file %s (expected: the password that its PostgreSQL was made with)"
              .formatted(root, passwordFile().getFileName()));
    }
    Files.setPosixFilePermissions(passwordFile(), OWNER_ONLY);
  }

  private void checkVersion(Binaries binaries) throws IOException {
    String found = Files.readString(data().resolve("PG_VERSION")).strip();
    String expected = binaries.majorVersion();
    if (!found.equals(expected)) {
      throw new EmbeddedPostgresException(
          "data directory "
              + root
              + " was made by PostgreSQL "
              + found
              + " (expected: "
              + expected
              + "; choose another directory, or move the data with pg_upgrade)");
    }
  }

  /** Returns the last lines of the log, each on its own line, for exception messages. */
  String logTail() {
    try {
      List<String> lines = Files.exists(log()) ? Files.readAllLines(log()) : List.of();
      List<String> tail = lines.subList(Math.max(0, lines.size() - 12), lines.size());
      return "\n  " + String.join("\n  ", tail);
    } catch (IOException e) {
      return " (no log: " + e + ")";
    }
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      OWNED.remove(root);
    }
  }
}
