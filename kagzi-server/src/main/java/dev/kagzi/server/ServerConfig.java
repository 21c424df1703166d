package dev.kagzi.server;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.config.DatabaseConfig;
import dev.kagzi.server.callback.CallbackConfig;
import dev.kagzi.server.config.ServerOption;
import dev.kagzi.server.config.Settings;
import dev.kagzi.server.listen.AccessToken;
import dev.kagzi.server.listen.ListenConfig;
import dev.kagzi.server.listen.Tls;
import dev.kagzi.server.metrics.MetricsConfig;
import dev.kagzi.server.trace.TraceConfig;
import dev.kagzi.server.web.DashboardConfig;
import dev.kagzi.server.web.overview.AttentionLimits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of a server.
 *
 * @param traces where the server exports its spans to
 * @param migrateOnStart whether a start migrates the schema; if not, the schema must be up to date
 * @param closeTimeout how long a stop waits for calls in flight
 * @param onFailure called when an essential thread has ended, before the server closes itself
 */
public record ServerConfig(
    ListenConfig listen,
    DatabaseConfig database,
    EngineConfig engine,
    TraceConfig traces,
    boolean migrateOnStart,
    boolean reflection,
    Duration closeTimeout,
    MetricsConfig metrics,
    DashboardConfig dashboard,
    CallbackConfig callbacks,
    Consumer<Throwable> onFailure) {

  public ServerConfig {
    if (closeTimeout.isNegative()) {
      throw new IllegalArgumentException(
          "closeTimeout: " + closeTimeout + " (expected: not negative)");
    }
  }

  /** Returns a builder with the default settings. */
  public static Builder builder() {
    return builder(Settings.defaults());
  }

  /** Returns a builder with these settings. Reads the token and TLS files that they name. */
  public static Builder builder(Settings settings) {
    return new Builder(settings);
  }

  /** Overrides single settings. */
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
    private MetricsConfig metrics;
    private DashboardConfig dashboard;
    private CallbackConfig callbacks;
    private EngineConfig engine;
    private TraceConfig traces;
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
      this.metrics =
          new MetricsConfig(
              settings.isOn(ServerOption.METRICS),
              settings.integer(ServerOption.METRICS_LABELS_MAX));
      this.dashboard =
          DashboardConfig.read(
              settings.isOn(ServerOption.DASHBOARD),
              settings.text(ServerOption.PUBLIC_URL),
              settings.text(ServerOption.HTTP_HOSTS),
              settings.time(ServerOption.SESSION_TIMEOUT),
              new AttentionLimits(
                  settings.time(ServerOption.ATTENTION_QUEUE_AGE),
                  settings.integer(ServerOption.ATTENTION_FAILURE_PERCENT),
                  settings.integer(ServerOption.ATTENTION_FAILURES_MIN),
                  settings.time(ServerOption.ATTENTION_DATABASE_LATENCY)));
      this.callbacks =
          CallbackConfig.read(
              settings.text(ServerOption.CALLBACK_KEYS),
              settings.text(ServerOption.CALLBACK_PORT).isEmpty()
                  ? ListenConfig.NONE
                  : settings.integer(ServerOption.CALLBACK_PORT),
              settings.text(ServerOption.TRUSTED_PROXIES));
      this.engine = EngineSettings.read(settings);
      this.traces =
          TraceConfig.read(
              settings.text(ServerOption.OTLP_ENDPOINT), settings.text(ServerOption.OTLP_HEADERS));
    }

    /** The address that all ports bind to; 127.0.0.1 by default. */
    public Builder host(String host) {
      this.host = host;
      return this;
    }

    /** The gRPC port; 50051 by default, 0 for a free one. */
    public Builder grpcPort(int port) {
      this.grpcPort = port;
      return this;
    }

    /** The HTTP port; 8484 by default, 0 for a free one. */
    public Builder httpPort(int port) {
      this.httpPort = port;
      return this;
    }

    /**
     * Opens no gRPC and no HTTP port: callers reach the server by {@link KagziServer#inProcessName}
     * only.
     */
    public Builder inProcessOnly() {
      this.grpcPort = ListenConfig.NONE;
      this.httpPort = ListenConfig.NONE;
      return this;
    }

    /**
     * The token that callers of gRPC and HTTP must send as {@code authorization: Bearer …}; none by
     * default. Health checks and answers of callbacks need no token.
     */
    public Builder token(String token) {
      this.token = AccessToken.of(token);
      return this;
    }

    /** Reads the token from the first line of a file. */
    public Builder tokenFile(Path file) {
      this.token = AccessToken.read(file);
      return this;
    }

    /** Serves TLS on all ports with this certificate chain and key, both in PEM. */
    public Builder tls(Path cert, Path key) {
      this.tls = Tls.read(cert, key, null);
      return this;
    }

    /**
     * Serves mutual TLS: clients must present a certificate that one of these authorities signed.
     */
    public Builder tls(Path cert, Path key, Path clientCa) {
      this.tls = Tls.read(cert, key, clientCa);
      return this;
    }

    /** Allows a server on a non-loopback address to run without token and client certificates. */
    public Builder insecure() {
      this.insecure = true;
      return this;
    }

    /** The database: {@code jdbc:postgresql://…} or {@code postgres://…}; required. */
    public Builder dbUrl(String url) {
      this.dbUrl = url;
      return this;
    }

    /** The user if the URL names none; {@code postgres} by default. */
    public Builder dbUser(String user) {
      this.dbUser = user;
      return this;
    }

    /** The password if the URL has none; empty by default. */
    public Builder dbPassword(String password) {
      this.dbPassword = password;
      return this;
    }

    /**
     * Whether a start migrates the schema; true by default. If false, a start fails when the schema
     * does not match this server.
     */
    public Builder migrateOnStart(boolean migrate) {
      this.migrateOnStart = migrate;
      return this;
    }

    /**
     * Accepts a PostgreSQL with {@code fsync} off, which may lose acknowledged commits; for tests
     * only.
     */
    public Builder unsafeDatabase() {
      this.unsafeDatabase = true;
      return this;
    }

    /** Whether the first use of an unknown namespace creates it; false by default. */
    public Builder autoCreateNamespaces(boolean create) {
      this.engine = engine.withAutoCreateNamespaces(create);
      return this;
    }

    /** Whether gRPC reflection is on; off by default. */
    public Builder reflection(boolean on) {
      this.reflection = on;
      return this;
    }

    /** How long a stop waits for calls in flight; 10 seconds by default. */
    public Builder closeTimeout(Duration timeout) {
      this.closeTimeout = timeout;
      return this;
    }

    /**
     * Exports spans of traced runs to a collector that accepts OTLP over gRPC, for example {@code
     * http://localhost:4317}; by default nothing is exported.
     */
    public Builder otlpEndpoint(String endpoint) {
      this.traces = new TraceConfig(endpoint, traces.headers());
      return this;
    }

    /**
     * Whether the server measures itself and serves {@code /metrics}; true by default.
     *
     * @param labelsMax how many types, and how many queues, have labels of their own; 100 by
     *     default
     */
    public Builder metrics(boolean on, int labelsMax) {
      this.metrics = new MetricsConfig(on, labelsMax);
      return this;
    }

    /** Whether the HTTP port serves the dashboard; true by default. */
    public Builder dashboard(boolean on) {
      this.dashboard = dashboard.withEnabled(on);
      return this;
    }

    /**
     * Makes callbacks work without the options {@code public-url} and {@code callback-keys}, for a
     * server that only this machine reaches. Without {@code public-url}, URLs contain the port of
     * the server itself. Without {@code callback-keys}, the key is derived from the secret.
     *
     * @param secret the same at each start, or earlier URLs are no longer valid
     */
    public Builder localCallbacks(String secret) {
      this.callbacks = callbacks.local(secret);
      return this;
    }

    /** The engine's settings. Overrides an earlier call of {@link #autoCreateNamespaces}. */
    public Builder engine(EngineConfig engine) {
      this.engine = engine;
      return this;
    }

    /**
     * Sets a listener for the end of an essential thread, for example a journal lane by an {@link
     * OutOfMemoryError}. By then the server has logged the error and is not ready any more;
     * afterwards it closes itself. Ending the process is up to the application. The listener must
     * not wait for the server.
     */
    public Builder onFailure(Consumer<Throwable> listener) {
      this.onFailure = listener;
      return this;
    }

    /** Returns where the server will listen; usable before a database is configured. */
    public ListenConfig listen() {
      return new ListenConfig(
          host, grpcPort, httpPort, new ListenConfig.Access(token, tls, insecure));
    }

    /** Returns the database configuration. Fails if no URL is set. */
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

    /**
     * Returns the configuration.
     *
     * @throws IllegalArgumentException if a value is invalid, no database URL is set, or a host
     *     that others can reach has neither a token nor mutual TLS nor {@code insecure}
     */
    public ServerConfig build() {
      return new ServerConfig(
          listen(),
          database(),
          engine,
          traces,
          migrateOnStart,
          reflection,
          closeTimeout,
          metrics,
          dashboard,
          callbacks,
          onFailure);
    }
  }
}
