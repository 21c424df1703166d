package dev.kagzi.embedded;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * A running server inside this JVM, whose libraries are isolated from those of the application.
 *
 * <pre>{@code
 * try (EmbeddedServer server =
 *     EmbeddedServer.builder().option("db-url", url).option("port", "0").start()) {
 *   Kagzi kagzi = Kagzi.connect(server.address());
 *   ...
 * }
 * }</pre>
 *
 * <p>Its jars are unpacked once, into the user's cache directory: {@code kagzi} in {@code
 * XDG_CACHE_HOME}, else {@code ~/.cache/kagzi}, on macOS {@code ~/Library/Caches/kagzi}.
 * Thread-safe.
 */
public interface EmbeddedServer extends AutoCloseable {

  /** Returns a builder with the default options of a server. */
  static Builder builder() {
    return new Builder();
  }

  /** Returns host and port for clients in this process: {@code Kagzi.connect(address)}. */
  String address();

  /** Returns the gRPC port. */
  int grpcPort();

  /** Returns the HTTP port; -1 if the server has none. */
  int httpPort();

  /** Returns why the server closed itself, if it did: an essential thread ended. */
  Optional<Throwable> failure();

  /** Returns operations for test kits. */
  TestControls testControls();

  /**
   * Stops the server. Waits for calls in flight, at most as long as the option {@code
   * close-timeout}. A second call does nothing.
   */
  @Override
  void close();

  /** Operations for test kits, which no client of a server has. Thread-safe. */
  interface TestControls {
    /** Makes the server look for due work, after the test has moved the clock of the database. */
    void clockMoved();

    /** Marks a worker of any namespace offline, as after a crash. */
    CompletableFuture<?> forceWorkerOffline(String workerId);

    /** Returns why a run does not continue, one sentence or more for each cause. */
    List<String> explain(String namespace, String runId);
  }

  /** The options of a server. Not thread-safe. */
  final class Builder {
    private final Map<String, String> options = new LinkedHashMap<>();
    private boolean http = true;
    private boolean safeDatabase = true;
    private Consumer<Throwable> onFailure = why -> {};

    private Builder() {}

    /**
     * Sets an option of the server, for example {@code db-url}, {@code port} or {@code http-port}:
     * the names and values of a configuration file. Environment variables are not read.
     */
    public Builder option(String key, String value) {
      options.put(Objects.requireNonNull(key, "key"), Objects.requireNonNull(value, "value"));
      return this;
    }

    /** Opens no HTTP port. */
    public Builder withoutHttp() {
      this.http = false;
      return this;
    }

    /** Accepts a PostgreSQL with settings that may lose acknowledged commits; for tests only. */
    public Builder unsafeDatabase() {
      this.safeDatabase = false;
      return this;
    }

    /**
     * Sets a listener for the end of an essential thread of the server, which then closes itself.
     * The listener must not wait for the server.
     */
    public Builder onFailure(Consumer<Throwable> listener) {
      this.onFailure = Objects.requireNonNull(listener, "listener");
      return this;
    }

    /**
     * Starts the server and returns when it is ready.
     *
     * @throws EmbeddedServerException if an option is unknown or invalid, a port is taken, the
     *     database is unreachable, or its schema does not match the server
     */
    public EmbeddedServer start() {
      return ServerLoader.servers().start(request());
    }

    /**
     * Migrates the schema of the database without starting a server.
     *
     * @return the version of the schema after the migration
     * @throws EmbeddedServerException if the database is unreachable or its schema is newer
     */
    public String migrate() {
      return ServerLoader.servers().migrate(request());
    }

    private EmbeddedServers.Request request() {
      return new EmbeddedServers.Request(Map.copyOf(options), http, safeDatabase, onFailure);
    }
  }
}
