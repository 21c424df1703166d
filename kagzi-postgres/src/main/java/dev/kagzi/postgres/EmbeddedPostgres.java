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
 * returns, and stops at {@link #close} or when the JVM ends, in whatever way. Thread-safe.
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

  private final ServerDirectory directory;
  private final Postmaster postmaster;
  private final boolean ephemeral;
  private final String password;

  private EmbeddedPostgres(ServerDirectory directory, Postmaster postmaster, boolean ephemeral) {
    this.directory = directory;
    this.postmaster = postmaster;
    this.ephemeral = ephemeral;
    this.password = directory.password();
  }

  /** A server is durable unless told otherwise; where its data goes must be said. */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Where this user's servers keep their data unless told otherwise: {@code name} under {@code
   * $XDG_DATA_HOME/kagzi} or {@code ~/.local/share/kagzi}. For root it can be {@code
   * /var/lib/kagzi}, when PostgreSQL has to run as a user who may not enter root's home.
   */
  public static Path defaultDataDir(String name) {
    return UserDirs.data(Account.current()).resolve(name);
  }

  /** The major version of the PostgreSQL that is on the class path, such as 18. */
  public static int majorVersion() {
    try {
      Path cache = UserDirs.cache(Account.current());
      return Integer.parseInt(Binaries.unpacked(cache).majorVersion());
    } catch (IOException e) {
      throw new EmbeddedPostgresException("cannot read the version of PostgreSQL: " + e, e);
    }
  }

  /** The address of a database, without user and password. */
  public String jdbcUrl(String database) {
    return "jdbc:postgresql://" + LOOPBACK + ":" + port() + "/" + database;
  }

  /** The superuser, the only user there is. */
  public String user() {
    return ServerDirectory.USER;
  }

  /** The user's password, random for each data directory. */
  public String password() {
    return password;
  }

  /** The port on the loopback address; the same after a restart unless somebody has taken it. */
  public int port() {
    return postmaster.port();
  }

  /** The process that, when killed, takes the server with it. */
  public long pid() {
    return postmaster.pid();
  }

  /** The folder that holds everything of this server. */
  public Path dataDir() {
    return directory.root();
  }

  /** The file that holds {@link #password}, readable by its owner only. */
  public Path passwordFile() {
    return directory.passwordFile();
  }

  /** What the server has to say. */
  public Path logFile() {
    return directory.log();
  }

  /** Whether the server runs; it may have been killed from outside. */
  public boolean isRunning() {
    return postmaster.isAlive();
  }

  /** Completes when the server has ended, wanted or not. */
  public CompletableFuture<Void> onExit() {
    return postmaster.onExit();
  }

  /** A new connection to a database, which is the caller's to close. */
  public Connection connect(String database) throws SQLException {
    return DriverManager.getConnection(jdbcUrl(database), user(), password());
  }

  /** Creates an empty database. */
  public void createDatabase(String name) {
    execute("CREATE DATABASE " + quoted(name));
  }

  /** Creates a copy of another database, to which nobody may be connected. */
  public void createDatabase(String name, String template) {
    execute("CREATE DATABASE " + quoted(name) + " TEMPLATE " + quoted(template));
  }

  /** Creates an empty database unless one of that name is there. */
  public void createDatabaseIfAbsent(String name) {
    if (!hasDatabase(name)) {
      createDatabase(name);
    }
  }

  /** Drops a database if it is there, and cuts off who is connected to it. */
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
      throw new EmbeddedPostgresException("cannot look for database " + name + ": " + e, e);
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

  /** Stops the server and waits until it has gone; an ephemeral one takes its data along. */
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

  /** Says which server is wanted. Not thread-safe. */
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
      // A checkpoint each few seconds under load would dominate every measurement.
      settings.put("max_wal_size", "2GB");
      settings.put("min_wal_size", "256MB");
      settings.put("checkpoint_timeout", "15min");
      settings.put("wal_compression", "on");
      settings.put("jit", "off");
      settings.put("timezone", "UTC");
      settings.put("log_timezone", "UTC");
    }

    /** The folder of the server, made when absent; what is in it stays after the server's end. */
    public Builder dataDir(Path folder) {
      this.dataDir = folder;
      return this;
    }

    /** A folder of its own for this server, deleted with it. */
    public Builder ephemeral() {
      this.ephemeral = true;
      return this;
    }

    /**
     * With true, the default, what is committed survives a loss of power. With false a crash of the
     * machine may destroy everything: for tests only.
     */
    public Builder durable(boolean durable) {
      this.durable = durable;
      return this;
    }

    /** A fixed port. Without it: the last one of the data directory if it is free, else any. */
    public Builder port(int port) {
      this.port = port;
      return this;
    }

    /** One more server setting, or another value for one of ours. */
    public Builder setting(String name, String value) {
      settings.put(name, value);
      return this;
    }

    /** Where the binaries are unpacked; by default a folder in the user's cache. */
    public Builder cacheDir(Path folder) {
      this.cacheDir = folder;
      return this;
    }

    /**
     * Starts the server and returns when it accepts connections.
     *
     * @throws EmbeddedPostgresException with a message for people, for instance when the data
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
      return dataDir != null ? dataDir : Files.createTempDirectory("kagzi-postgres-");
    }

    private EmbeddedPostgres start(Path folder, Binaries binaries, Account account)
        throws IOException {
      ServerDirectory directory = ServerDirectory.open(folder);
      boolean started = false;
      try {
        Postmaster.stopLeftover(directory);
        limitLog(directory.log());
        directory.initialize(binaries, account, durable);
        Postmaster postmaster = startPatiently(directory, binaries, account);
        directory.recordPort(postmaster.port());
        started = true;
        return new EmbeddedPostgres(directory, postmaster, ephemeral);
      } finally {
        if (!started) {
          directory.close();
          if (ephemeral) {
            deleteQuietly(directory.root());
          }
        }
      }
    }

    private static void limitLog(Path file) throws IOException {
      if (Files.exists(file) && Files.size(file) > LOG_BYTES_MAX) {
        Files.delete(file);
      }
    }

    /**
     * A start can fail for reasons that pass: the port was taken a moment ago, or processes of a
     * killed server have not noticed its death and hold its memory. On PostgreSQL 14 that takes 10
     * s for one that waits for the statistics collector.
     */
    private Postmaster startPatiently(ServerDirectory directory, Binaries binaries, Account account)
        throws IOException {
      Postmaster.Ending ending = ephemeral ? Postmaster.Ending.DELETE : Postmaster.Ending.KEEP;
      long pauseMs = 50;
      long leftoverDeadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LEFTOVER_SECONDS_MAX);
      for (int attempt = 1;
          attempt <= STARTS_MAX
              || (directory.logTail().contains(MEMORY_IN_USE)
                  && System.nanoTime() < leftoverDeadline);
          attempt++) {
        int chosen = choosePort(attempt == 1 ? directory.recordedPort() : 0);
        List<String> server = account.command(server(binaries, directory.data(), chosen));
        Optional<Postmaster> started = Postmaster.start(directory, server, chosen, ending);
        if (started.isPresent()) {
          return started.get();
        }
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(pauseMs));
        pauseMs = Math.min(1_000, pauseMs * 2);
      }
      throw new EmbeddedPostgresException(
          "PostgreSQL does not start in " + directory.root() + ":" + directory.logTail());
    }

    private List<String> server(Binaries binaries, Path data, int port) {
      List<String> command = new ArrayList<>();
      command.addAll(List.of(binaries.program("postgres"), "-D", data.toString()));
      Map<String, String> all = new LinkedHashMap<>();
      all.put("port", Integer.toString(port));
      String safety = durable ? "on" : "off";
      all.put("fsync", safety);
      all.put("synchronous_commit", safety);
      all.put("full_page_writes", safety);
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
