package dev.kagzi.server;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.db.DatabaseConfig;
import dev.kagzi.server.config.ServerOption;
import dev.kagzi.server.config.Settings;
import dev.kagzi.server.listen.AccessToken;
import dev.kagzi.server.listen.ListenConfig;
import dev.kagzi.server.listen.Tls;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * How a server is set up.
 *
 * @param listen where it listens, and whom it lets in
 * @param database where PostgreSQL is
 * @param engine the engine's own settings
 * @param migrateOnStart whether the schema is brought up to date, or has to be
 * @param reflection whether clients may ask for the protocol's descriptors
 * @param closeTimeout how long a stop waits for calls under way
 * @param onFailure called when the server cannot go on, before it closes itself
 */
public record ServerConfig(
    ListenConfig listen,
    DatabaseConfig database,
    EngineConfig engine,
    boolean migrateOnStart,
    boolean reflection,
    Duration closeTimeout,
    Consumer<Throwable> onFailure) {

  public ServerConfig {
    if (closeTimeout.isNegative()) {
      throw new IllegalArgumentException(
          "closeTimeout: " + closeTimeout + " (expected: not negative)");
    }
  }

  /** Starts from the defaults. */
  public static Builder builder() {
    return builder(Settings.defaults());
  }

  /** Starts from what settings say. Files that they name are read. */
  public static Builder builder(Settings settings) {
    return new Builder(settings);
  }

  /** Collects what differs. */
  public static final class Builder {
    private String host;
    private int grpcPort;
    private int httpPort;
    private @Nullable AccessToken token;
    private @Nullable Tls tls;
    private boolean insecure;
    private String dbUrl;
    private String dbUser;
    private String dbPassword;
    private int dbPoolSize;
    private boolean migrateOnStart;
    private boolean unsafeDatabase;
    private boolean reflection;
    private Duration closeTimeout;
    private EngineConfig engine;
    private Consumer<Throwable> onFailure = why -> {};

    private Builder(Settings settings) {
      this.host = settings.text(ServerOption.HOST);
      this.grpcPort = settings.integer(ServerOption.PORT);
      this.httpPort = settings.integer(ServerOption.HTTP_PORT);
      this.token = AccessSettings.token(settings);
      this.tls = AccessSettings.tls(settings);
      this.insecure = settings.isOn(ServerOption.INSECURE);
      this.dbUrl = settings.text(ServerOption.DB_URL);
      this.dbUser = settings.text(ServerOption.DB_USER);
      this.dbPassword = settings.text(ServerOption.DB_PASSWORD);
      this.dbPoolSize = settings.integer(ServerOption.DB_POOL_SIZE);
      this.migrateOnStart = settings.isOn(ServerOption.MIGRATE_ON_START);
      this.reflection = settings.isOn(ServerOption.REFLECTION);
      this.closeTimeout = settings.time(ServerOption.CLOSE_TIMEOUT);
      this.engine = EngineSettings.read(settings);
    }

    /** Where both ports are bound; 127.0.0.1 by default. */
    public Builder host(String host) {
      this.host = host;
      return this;
    }

    /** 50051 by default; 0 for a free one. */
    public Builder grpcPort(int port) {
      this.grpcPort = port;
      return this;
    }

    /** 8484 by default; 0 for a free one. */
    public Builder httpPort(int port) {
      this.httpPort = port;
      return this;
    }

    /** Opens no port: {@link KagziServer#inProcessName} is how to reach such a server. */
    public Builder inProcessOnly() {
      this.grpcPort = ListenConfig.NONE;
      this.httpPort = ListenConfig.NONE;
      return this;
    }

    /**
     * What callers of both ports have to show: {@code authorization: Bearer …}; none by default.
     */
    public Builder token(String token) {
      this.token = AccessToken.of(token);
      return this;
    }

    /** The same from the first line of a file. */
    public Builder tokenFile(Path file) {
      this.token = AccessToken.read(file);
      return this;
    }

    /** Secures both ports with this certificate chain and its key, both in PEM. */
    public Builder tls(Path cert, Path key) {
      this.tls = Tls.read(cert, key, null);
      return this;
    }

    /** The same, and asks clients for a certificate that one of these authorities has signed. */
    public Builder tls(Path cert, Path key, Path clientCa) {
      this.tls = Tls.read(cert, key, clientCa);
      return this;
    }

    /** Lets a server that others can reach do without token and clients' certificates. */
    public Builder insecure() {
      this.insecure = true;
      return this;
    }

    /** {@code jdbc:postgresql://…} or {@code postgres://…}; there is no default. */
    public Builder dbUrl(String url) {
      this.dbUrl = url;
      return this;
    }

    /** For a url that names no user; {@code postgres} by default. */
    public Builder dbUser(String user) {
      this.dbUser = user;
      return this;
    }

    /** For a url that has no password; empty by default. */
    public Builder dbPassword(String password) {
      this.dbPassword = password;
      return this;
    }

    /**
     * Whether a start brings the schema up to date, which is the default. If not, a start on a
     * schema that is not this server's is refused.
     */
    public Builder migrateOnStart(boolean migrate) {
      this.migrateOnStart = migrate;
      return this;
    }

    /** Accepts a PostgreSQL that may lose what it acknowledged; for tests only. */
    public Builder unsafeDatabase() {
      this.unsafeDatabase = true;
      return this;
    }

    /** Whether a namespace that nobody has created comes into being with its first use. */
    public Builder autoCreateNamespaces(boolean create) {
      this.engine = engine.withAutoCreateNamespaces(create);
      return this;
    }

    /** Whether clients may ask for the protocol's descriptors; not by default. */
    public Builder reflection(boolean on) {
      this.reflection = on;
      return this;
    }

    /** How long a stop waits for calls under way; 10 seconds by default. */
    public Builder closeTimeout(Duration timeout) {
      this.closeTimeout = timeout;
      return this;
    }

    /** The engine's own settings. Replaces what {@link #autoCreateNamespaces} said before. */
    public Builder engine(EngineConfig engine) {
      this.engine = engine;
      return this;
    }

    /**
     * Who is called when the server cannot go on because one of its threads has ended, such as the
     * journal's writer by an {@link OutOfMemoryError}. The server has logged it, is not ready any
     * more, and closes itself afterwards; the process is the application's to end. The listener
     * must not wait for the server.
     */
    public Builder onFailure(Consumer<Throwable> listener) {
      this.onFailure = listener;
      return this;
    }

    /** Where the server will listen, for whoever wants to know before there is a database. */
    public ListenConfig listen() {
      return new ListenConfig(
          host, grpcPort, httpPort, new ListenConfig.Access(token, tls, insecure));
    }

    /** Where the database is. */
    public DatabaseConfig database() {
      if (dbUrl.isEmpty()) {
        throw new IllegalArgumentException(
            "db-url: none (expected: --db-url or KAGZI_DB_URL, jdbc:postgresql://… or"
                + " postgres://…)");
      }
      DatabaseConfig database =
          DatabaseConfig.parse(dbUrl, dbUser, dbPassword).withPoolSize(dbPoolSize);
      return unsafeDatabase ? database.unsafe() : database;
    }

    /** The finished configuration. */
    public ServerConfig build() {
      return new ServerConfig(
          listen(), database(), engine, migrateOnStart, reflection, closeTimeout, onFailure);
    }
  }
}
