package dev.kagzi.server;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.db.DatabaseConfig;
import java.time.Duration;
import java.util.Map;
import java.util.function.IntConsumer;

/**
 * How a server is set up.
 *
 * @param host where both ports are bound
 * @param grpcPort 0 for a free one
 * @param httpPort 0 for a free one
 * @param database where PostgreSQL is
 * @param engine the engine's own settings
 * @param reflection whether clients may ask for the protocol's descriptors
 * @param closeTimeout how long a stop waits for calls under way
 */
public record ServerConfig(
    String host,
    int grpcPort,
    int httpPort,
    DatabaseConfig database,
    EngineConfig engine,
    boolean reflection,
    Duration closeTimeout) {

  private static final int PORT_MAX = 65_535;

  public ServerConfig {
    checkPort("grpcPort", grpcPort);
    checkPort("httpPort", httpPort);
    if (host.isBlank()) {
      throw new IllegalArgumentException("host: \"" + host + "\" (expected: a name or an address)");
    }
    if (closeTimeout.isNegative()) {
      throw new IllegalArgumentException(
          "closeTimeout: " + closeTimeout + " (expected: not negative)");
    }
  }

  private static void checkPort(String name, int port) {
    if (port < 0 || port > PORT_MAX) {
      throw new IllegalArgumentException(
          name + ": " + port + " (expected: 0 to " + PORT_MAX + ", 0 for a free one)");
    }
  }

  /** Starts from the defaults. */
  public static Builder builder() {
    return new Builder();
  }

  /** Collects what differs from the defaults. */
  public static final class Builder {
    private String host = "127.0.0.1";
    private int grpcPort = 50_051;
    private int httpPort = 8_484;
    private String dbUrl = "";
    private String dbUser = "postgres";
    private String dbPassword = "";
    private boolean unsafeDatabase;
    private boolean reflection;
    private Duration closeTimeout = Duration.ofSeconds(10);
    private EngineConfig engine = EngineConfig.defaults();

    private Builder() {}

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

    /** Takes what the environment says and leaves the rest as it is. */
    public Builder environment(Map<String, String> environment) {
      host = environment.getOrDefault("KAGZI_SERVER_HOST", host);
      dbUrl = environment.getOrDefault("KAGZI_DB_URL", dbUrl);
      dbUser = environment.getOrDefault("KAGZI_DB_USER", dbUser);
      dbPassword = environment.getOrDefault("KAGZI_DB_PASSWORD", dbPassword);
      number(environment, "KAGZI_SERVER_PORT", this::grpcPort);
      number(environment, "KAGZI_HTTP_PORT", this::httpPort);
      return this;
    }

    private static void number(Map<String, String> environment, String name, IntConsumer setting) {
      String value = environment.get(name);
      if (value == null) {
        return;
      }
      try {
        setting.accept(Integer.parseInt(value));
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException(name + ": " + value + " (expected: a number)", e);
      }
    }

    /** The finished configuration. */
    public ServerConfig build() {
      if (dbUrl.isEmpty()) {
        throw new IllegalArgumentException(
            "dbUrl: none (expected: jdbc:postgresql://… or postgres://…; or set KAGZI_DB_URL)");
      }
      DatabaseConfig database = DatabaseConfig.parse(dbUrl, dbUser, dbPassword);
      return new ServerConfig(
          host,
          grpcPort,
          httpPort,
          unsafeDatabase ? database.unsafe() : database,
          engine,
          reflection,
          closeTimeout);
    }
  }
}
