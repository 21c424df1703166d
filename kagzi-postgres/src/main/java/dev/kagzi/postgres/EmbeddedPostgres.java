package dev.kagzi.postgres;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A PostgreSQL server that belongs to this JVM. It accepts connections when {@link Builder#start}
 * returns, and stops at {@link #close} or when the JVM ends, even by a kill. Thread-safe.
 *
 * <pre>{@code
 * try (EmbeddedPostgres postgres = EmbeddedPostgres.builder().dataDir(folder).start()) {
 *   postgres.createDatabaseIfAbsent("orders");
 *   Connection connection = postgres.connect("orders");
 * }
 * }</pre>
 */
public final class EmbeddedPostgres implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(EmbeddedPostgres.class);

  private static final String LOOPBACK = "127.0.0.1";
  private static final int STARTS_MAX = 6;
  private static final long LEFTOVER_SECONDS_MAX = 30;
  private static final String MEMORY_IN_USE = "pre-existing shared memory block";
  private static final long LOG_BYTES_MAX = 16L << 20;
  private static final String FOLDER_PREFIX = "kagzi-postgres-";

  /** A file system in memory, on Linux. */
  private static final Path MEMORY = Path.of("/dev/shm");

  private static final long MEMORY_BYTES_MIN = 4L << 30;

  /**
   * True in the build of Kagzi: servers that are not durable have their files in memory, and the
   * password of their user has one hash. Not for everybody: a container may have less memory than
   * space in memory, and older drivers refuse fewer than 4096 hashes.
   */
  static final boolean FAST = Boolean.getBoolean("kagzi.postgres.fast");

  private final ServerDirectory directory;
  private final Postmaster postmaster;
  private final boolean ephemeral;
  private final String password;
  private final String copyOption;

  private EmbeddedPostgres(
      ServerDirectory directory, Postmaster postmaster, boolean ephemeral, String copyOption) {
    this.directory = directory;
    this.postmaster = postmaster;
    this.ephemeral = ephemeral;
    this.copyOption = copyOption;
    this.password = directory.password();
  }

  /**
   * Returns a builder. Set exactly one of {@link Builder#dataDir} and {@link Builder#ephemeral}.
   */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Returns the default data directory: {@code name} under {@code $XDG_DATA_HOME/kagzi} or {@code
   * ~/.local/share/kagzi}. For root it can be {@code /var/lib/kagzi}, when PostgreSQL has to run as
   * a user who cannot enter root's home.
   */
  public static Path defaultDataDir(String name) {
    return UserDirs.data(Account.current()).resolve(name);
  }

  /** Returns the major version of the PostgreSQL on the class path, such as 18. */
  public static int majorVersion() {
    try {
      Path cache = UserDirs.cache(Account.current());
      return Binaries.unpacked(cache).majorVersionNumber();
    } catch (IOException e) {
      throw new EmbeddedPostgresException("cannot read the version of PostgreSQL: " + e, e);
    }
  }

  /** Returns the JDBC URL of a database, without user and password. */
  public String jdbcUrl(String database) {
    return "jdbc:postgresql://" + LOOPBACK + ":" + port() + "/" + database;
  }

  /** The superuser, the only user of the server. */
  public String user() {
    return ServerDirectory.USER;
  }

  /** The user's password, random for each data directory. */
  public String password() {
    return password;
  }

  /** The port on the loopback address; the same after a restart unless another process uses it. */
  public int port() {
    return postmaster.port();
  }

  /** The pid of the server; killing it ends the server. */
  public long pid() {
    return postmaster.pid();
  }

  /** The folder with all files of this server. */
  public Path dataDir() {
    return directory.root();
  }

  /** The file that contains {@link #password}, readable by its owner only. */
  public Path passwordFile() {
    return directory.passwordFile();
  }

  /** The server's log file. */
  public Path logFile() {
    return directory.log();
  }

  /** Returns whether the server is running; it may have been killed from outside. */
  public boolean isRunning() {
    return postmaster.isAlive();
  }

  /** Completes when the server has ended, by {@link #close} or not. */
  public CompletableFuture<Void> onExit() {
    return postmaster.onExit();
  }

  /** Opens a connection to a database; the caller closes it. */
  public Connection connect(String database) throws SQLException {
    return DriverManager.getConnection(jdbcUrl(database), user(), password());
  }

  /** Creates an empty database. */
  public void createDatabase(String name) {
    execute("CREATE DATABASE " + quoted(name) + copyOption);
  }

  /** Creates a copy of another database, which must have no connections. */
  public void createDatabase(String name, String template) {
    execute("CREATE DATABASE " + quoted(name) + " TEMPLATE " + quoted(template) + copyOption);
  }

  /** Creates an empty database unless the name exists. */
  public void createDatabaseIfAbsent(String name) {
    if (!hasDatabase(name)) {
      createDatabase(name);
    }
  }

  /** Drops a database if it exists, and closes its connections. */
  public void dropDatabase(String name) {
    execute("DROP DATABASE IF EXISTS " + quoted(name) + " WITH (FORCE)");
  }

  private boolean hasDatabase(String name) {
    try (Connection connection = connect("postgres");
        PreparedStatement query =
            connection.prepareStatement("SELECT 1 FROM pg_database WHERE datname = ?")) {
      query.setString(1, name);
      try (ResultSet row = query.executeQuery()) {
        return row.next();
      }
    } catch (SQLException e) {
      throw new EmbeddedPostgresException("cannot check for database " + name + ": " + e, e);
    }
  }

  private void execute(String sql) {
    try (Connection connection = connect("postgres");
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new EmbeddedPostgresException(sql + ": " + e.getMessage(), e);
    }
  }

  private static String quoted(String name) {
    return '"' + name.replace("\"", "\"\"") + '"';
  }

  /** Stops the server and waits until it has ended; deletes the data of an ephemeral one. */
  @Override
  public void close() {
    try {
      postmaster.stop();
    } finally {
      directory.close();
      if (ephemeral) {
        deleteQuietly(directory.root());
      }
    }
  }

  private static void deleteQuietly(Path folder) {
    try {
      Folders.delete(folder);
    } catch (IOException e) {
      log.atWarn().addKeyValue("folder", folder).setCause(e).log("temporary folder not deleted");
    }
  }

  /** Configures a server. Not thread-safe. */
  public static final class Builder {

    private final Map<String, String> settings = new LinkedHashMap<>();
    private @Nullable Path dataDir;
    private @Nullable Path cacheDir;
    private boolean ephemeral;
    private boolean durable = true;
    private int port;

    private Builder() {
      settings.put("listen_addresses", LOOPBACK);
      settings.put("unix_socket_directories", "");
      settings.put("max_connections", "200");
      settings.put("shared_buffers", "128MB");
      settings.put("checkpoint_timeout", "15min");
      settings.put("jit", "off");
      settings.put("timezone", "UTC");
      settings.put("log_timezone", "UTC");
    }

    /**
     * Sets the folder of the server, created when absent. Its content stays after the server ends.
     */
    public Builder dataDir(Path folder) {
      this.dataDir = folder;
      return this;
    }

    /** Uses a temporary folder, deleted when the server ends. */
    public Builder ephemeral() {
      this.ephemeral = true;
      return this;
    }

    /**
     * Sets whether commits survive a power loss; true by default. With false a crash of the machine
     * may destroy all data: for tests only.
     */
    public Builder durable(boolean durable) {
      this.durable = durable;
      return this;
    }

    /** Sets a fixed port. Default: the last port of the data directory if it is free, else any. */
    public Builder port(int port) {
      this.port = port;
      return this;
    }

    /** Sets a server setting, or overrides a default. */
    public Builder setting(String name, String value) {
      settings.put(name, value);
      return this;
    }

    /** Sets where the binaries are unpacked; by default a folder in the user's cache. */
    public Builder cacheDir(Path folder) {
      this.cacheDir = folder;
      return this;
    }

    /**
     * Starts the server and returns when it accepts connections.
     *
     * @throws EmbeddedPostgresException with a message for users, for example when the data
     *     directory is in use
     */
    public EmbeddedPostgres start() {
      long began = System.nanoTime();
      Account account = Account.current();
      Binaries binaries = Binaries.unpacked(cacheDir != null ? cacheDir : UserDirs.cache(account));
      try {
        EmbeddedPostgres started = start(folder(), binaries, account);
        log.atInfo()
            .addKeyValue("port", started.port())
            .addKeyValue("folder", started.dataDir())
            .addKeyValue("ms", (System.nanoTime() - began) / 1_000_000)
            .log("postgres started");
        return started;
      } catch (IOException e) {
        throw new EmbeddedPostgresException("cannot start PostgreSQL: " + e, e);
      }
    }

    private Path folder() throws IOException {
      if (ephemeral == (dataDir != null)) {
        throw new IllegalStateException(
            "dataDir: " + dataDir + ", ephemeral: " + ephemeral + " (expected: one of the two)");
      }
      if (dataDir != null) {
        return dataDir;
      }
      return FAST && !durable && hasSpace(MEMORY)
          ? Files.createTempDirectory(MEMORY, FOLDER_PREFIX)
          : Files.createTempDirectory(FOLDER_PREFIX);
    }

    /** Containers often have a small one. */
    private static boolean hasSpace(Path folder) throws IOException {
      return Files.isWritable(folder)
          && Files.getFileStore(folder).getUsableSpace() >= MEMORY_BYTES_MIN;
    }

    private EmbeddedPostgres start(Path folder, Binaries binaries, Account account)
        throws IOException {
      ServerDirectory directory = ServerDirectory.open(folder);
      boolean started = false;
      try {
        Postmaster.stopLeftover(directory);
        limitLog(directory.log());
        directory.initialize(binaries, account, durable);
        Postmaster postmaster = startWithRetries(directory, binaries, account);
        directory.recordPort(postmaster.port());
        started = true;
        return new EmbeddedPostgres(directory, postmaster, ephemeral, copyOption(binaries));
      } finally {
        if (!started) {
          directory.close();
          if (ephemeral) {
            deleteQuietly(directory.root());
          }
        }
      }
    }

    /**
     * Returns how a database is copied. By default its pages are written to the log, which takes
     * several times as long as a copy of its files. That copy needs a checkpoint, which is cheap
     * without fsync. Before version 15 there is no other way.
     */
    private String copyOption(Binaries binaries) throws IOException {
      return !durable && binaries.majorVersionNumber() >= 15 ? " STRATEGY FILE_COPY" : "";
    }

    private static void limitLog(Path file) throws IOException {
      if (Files.exists(file) && Files.size(file) > LOG_BYTES_MAX) {
        Files.delete(file);
      }
    }

    /**
     * Retries a failed start, because the reason may pass: the port was just taken, or processes of
     * a killed server still hold its shared memory. On PostgreSQL 14 a process that waits for the
     * statistics collector takes 10 s to notice that its server was killed.
     */
    private Postmaster startWithRetries(
        ServerDirectory directory, Binaries binaries, Account account) throws IOException {
      Postmaster.StopMode mode = ephemeral ? Postmaster.StopMode.DELETE : Postmaster.StopMode.KEEP;
      long pauseMs = 50;
      long leftoverDeadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LEFTOVER_SECONDS_MAX);
      for (int attempt = 1;
          attempt <= STARTS_MAX
              || (directory.logTail().contains(MEMORY_IN_USE)
                  && System.nanoTime() < leftoverDeadline);
          attempt++) {
        int chosen = choosePort(attempt == 1 ? directory.recordedPort() : 0);
        List<String> server = account.command(server(binaries, directory.data(), chosen));
        Optional<Postmaster> started = Postmaster.start(directory, server, chosen, mode);
        if (started.isPresent()) {
          return started.get();
        }
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(pauseMs));
        pauseMs = Math.min(1_000, pauseMs * 2);
      }
      throw new EmbeddedPostgresException(
          "PostgreSQL does not start in " + directory.root() + ":" + directory.logTail());
    }

    private List<String> server(Binaries binaries, Path data, int port) throws IOException {
      List<String> command = new ArrayList<>();
      command.addAll(List.of(binaries.program("postgres"), "-D", data.toString()));
      Map<String, String> all = new LinkedHashMap<>();
      all.put("port", Integer.toString(port));
      String safety = durable ? "on" : "off";
      all.put("fsync", safety);
      all.put("synchronous_commit", safety);
      all.put("full_page_writes", safety);
      all.put("wal_compression", safety);
      // A checkpoint every few seconds under load would dominate every measurement. Without fsync
      // it is cheap, and the log may be in memory.
      all.put("max_wal_size", durable ? "2GB" : "512MB");
      all.put("min_wal_size", durable ? "256MB" : "128MB");
      if (binaries.majorVersionNumber() >= 16) {
        all.put("scram_iterations", "4096");
      }
      all.putAll(settings);
      all.forEach((name, value) -> command.addAll(List.of("-c", name + "=" + value)));
      return command;
    }

    private int choosePort(int recorded) throws IOException {
      if (port != 0) {
        return port;
      }
      if (recorded != 0 && isFree(recorded)) {
        return recorded;
      }
      try (ServerSocket any = new ServerSocket(0, 1, loopback())) {
        return any.getLocalPort();
      }
    }

    private static boolean isFree(int port) {
      try (ServerSocket probe = new ServerSocket(port, 1, loopback())) {
        return probe.isBound();
      } catch (IOException taken) {
        return false;
      }
    }

    private static InetAddress loopback() throws IOException {
      return InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
    }
  }
}
