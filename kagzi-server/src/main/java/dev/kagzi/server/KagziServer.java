package dev.kagzi.server;

import dev.kagzi.engine.Engine;
import dev.kagzi.engine.config.DatabaseConfig;
import dev.kagzi.engine.metrics.Meters;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.server.callback.CallbackUrls;
import dev.kagzi.server.grpc.GrpcServer;
import dev.kagzi.server.grpc.GrpcSettings;
import dev.kagzi.server.http.HttpApi;
import dev.kagzi.server.listen.ListenConfig;
import dev.kagzi.server.metrics.ServerMetrics;
import dev.kagzi.server.trace.ServerTracing;
import java.io.IOException;
import java.net.URI;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running server.
 *
 * <pre>{@code
 * try (KagziServer server = KagziServer.start(ServerConfig.builder().dbUrl(url).build())) {
 *   ...
 * }
 * }</pre>
 *
 * <p>Thread-safe.
 */
public final class KagziServer implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(KagziServer.class);

  private final String inProcessName;
  private final Readiness readiness;
  private final ServerMetrics metrics;
  private final HttpApi http;
  private final Engine engine;
  private final GrpcServer grpc;
  private final Consumer<Throwable> onFailure;
  private final AtomicBoolean closed = new AtomicBoolean();

  private KagziServer(
      String inProcessName,
      Readiness readiness,
      ServerMetrics metrics,
      HttpApi http,
      Engine engine,
      GrpcServer grpc,
      Consumer<Throwable> onFailure) {
    this.inProcessName = inProcessName;
    this.readiness = readiness;
    this.metrics = metrics;
    this.http = http;
    this.engine = engine;
    this.grpc = grpc;
    this.onFailure = onFailure;
  }

  /**
   * Starts a server and returns when it is ready: the schema is up to date and the configured ports
   * are open. If any of it fails, nothing is left running.
   *
   * @throws ServerStartException if a port is taken, the database is unreachable, or its schema
   *     does not match this server
   */
  public static KagziServer start(ServerConfig config) {
    Readiness readiness = new Readiness();
    ServerMetrics metrics = new ServerMetrics(config.metrics(), ServerVersion.read());
    StartedEngine started = new StartedEngine();
    // HTTP starts in parallel with the engine, because each takes a large part of the startup time.
    CompletableFuture<HttpApi> http =
        CompletableFuture.supplyAsync(
            () ->
                HttpApi.start(
                    config.listen(),
                    config.dashboard(),
                    config.callbacks(),
                    new HttpApi.Sources(
                        ServerVersion.read(),
                        readiness::notReadyReason,
                        metrics,
                        started::get,
                        config.engine().limits().payloadBytesMax(),
                        config.engine().memory().callbackBytesMax())),
            task -> Thread.ofVirtual().name("kagzi-http-start").start(task));
    try {
      return start(config, readiness, metrics, http, started);
    } catch (RuntimeException e) {
      http.thenAccept(HttpApi::close);
      metrics.close();
      throw e;
    }
  }

  /**
   * Migrates a database's schema without starting a server. Use it if the database user of the
   * servers may not change the schema.
   *
   * @return the schema version after the migration
   * @throws IllegalArgumentException if the configuration names no database
   * @throws ServerStartException if the database is unreachable or its schema is newer
   */
  public static String migrate(ServerConfig.Builder config) {
    DatabaseConfig databaseConfig = config.database();
    try {
      return Engine.migrate(databaseConfig);
    } catch (RuntimeException e) {
      throw StartupErrors.ofDatabase(databaseConfig, e);
    }
  }

  private static KagziServer start(
      ServerConfig config,
      Readiness readiness,
      ServerMetrics metrics,
      CompletableFuture<HttpApi> http,
      StartedEngine started) {
    Engine engine = startEngine(config, metrics.meters());
    try {
      started.set(engine);
      readiness.engineStarted(
          engine::unavailableReason, engine.diagnosis()::hasDatabaseWorkedLately);
      metrics.beforeText(engine.clusterMetrics()::refresh);
      return start(config, readiness, metrics, http, engine);
    } catch (RuntimeException e) {
      engine.close();
      throw e;
    }
  }

  private static Engine startEngine(ServerConfig config, Meters meters) {
    try {
      return config.migrateOnStart()
          ? Engine.start(config.database(), config.engine(), meters)
          : Engine.startMigrated(config.database(), config.engine(), meters);
    } catch (RuntimeException e) {
      throw StartupErrors.ofDatabase(config.database(), e);
    }
  }

  private static KagziServer start(
      ServerConfig config,
      Readiness readiness,
      ServerMetrics metrics,
      CompletableFuture<HttpApi> http,
      Engine engine) {
    String inProcessName = "kagzi-" + UUID.randomUUID();
    HttpApi httpApi = awaitHttp(config, http);
    CallbackUrls callbacks =
        config.callbacks().urls(config.dashboard().publicUrl(), ownUrl(config.listen(), httpApi));
    GrpcServer grpc = openGrpc(config, inProcessName, readiness, metrics, engine, callbacks);
    try {
      KagziServer server =
          new KagziServer(
              inProcessName, readiness, metrics, httpApi, engine, grpc, config.onFailure());
      engine.threads().onFailure(server::fail);
      readiness.accepting();
      grpc.serve();
      server.logReady(config.listen());
      return server;
    } catch (RuntimeException e) {
      engine.threads().close();
      grpc.close();
      throw e;
    }
  }

  /**
   * Gives HTTP handlers the engine. HTTP may be ready before the engine has started; {@link #get}
   * throws a refusal until then.
   */
  private static final class StartedEngine {
    private volatile @Nullable Engine engine;

    void set(Engine started) {
      engine = started;
    }

    Engine get() {
      Engine started = engine;
      if (started == null) {
        throw Refusal.of(
            Refusal.Reason.UNAVAILABLE, "server", "", "the server is starting: try again soon");
      }
      return started;
    }
  }

  private void logReady(ListenConfig listen) {
    if (listen.sendsTokenUnencrypted()) {
      log.atWarn()
          .addKeyValue("host", listen.host())
          .log("the token travels unencrypted, see tls-cert");
    }
    if (grpc.port() < 0) {
      log.atInfo().addKeyValue("in_process", inProcessName).log("server is ready");
      return;
    }
    log.atInfo()
        .addKeyValue("host", listen.host())
        .addKeyValue("grpc", grpc.port())
        .addKeyValue("http", http.port())
        .addKeyValue("callbacks", http.callbackPort())
        .log("server is ready");
  }

  private static GrpcServer openGrpc(
      ServerConfig config,
      String inProcessName,
      Readiness readiness,
      ServerMetrics metrics,
      Engine engine,
      CallbackUrls callbacks) {
    GrpcSettings settings =
        new GrpcSettings(
            config.listen(),
            inProcessName,
            config.reflection(),
            ServerVersion.read(),
            config.engine().memory(),
            ServerTracing.open(config.traces(), ServerVersion.read()),
            metrics.registry(),
            callbacks);
    try {
      return GrpcServer.start(
          settings,
          engine,
          readiness::notReadyReason,
          readiness::notReadyReasonLately,
          config.closeTimeout());
    } catch (IOException e) {
      throw StartupErrors.ofPort(config.listen(), "--port", config.listen().grpcPort(), e);
    }
  }

  private static HttpApi awaitHttp(ServerConfig config, CompletableFuture<HttpApi> http) {
    try {
      return http.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof HttpApi.CallbackPortException taken) {
        throw StartupErrors.ofPort(
            config.listen(), "--callback-port", config.callbacks().port(), taken);
      }
      throw StartupErrors.ofPort(config.listen(), "--http-port", config.listen().httpPort(), e);
    }
  }

  /** Where callers on this machine reach the callbacks; null if no port serves them. */
  private static @Nullable URI ownUrl(ListenConfig listen, HttpApi http) {
    if (http.callbackPort() == ListenConfig.NONE) {
      return null;
    }
    String host = listen.host();
    if (host.equals("0.0.0.0") || host.equals("::")) {
      host = "localhost";
    } else if (host.contains(":") && !host.startsWith("[")) {
      host = "[" + host + "]";
    }
    String scheme = listen.tls().isPresent() ? "https" : "http";
    return URI.create("%s://%s:%d".formatted(scheme, host, http.callbackPort()));
  }

  /** Returns the gRPC port; -1 if the server has none. */
  public int grpcPort() {
    return grpc.port();
  }

  /** Returns the HTTP port; -1 if the server has none. */
  public int httpPort() {
    return http.port();
  }

  /** Returns the port that serves callbacks, which may be the HTTP port; -1 if there is none. */
  public int callbackPort() {
    return http.callbackPort();
  }

  /**
   * Returns the name under which callers in this process reach the server without a socket and
   * without a token. Pass it to the SDK's {@code Kagzi.builder().inProcess(name)} or to gRPC's
   * {@code InProcessChannelBuilder.forName(name)}.
   */
  public String inProcessName() {
    return inProcessName;
  }

  int openCalls() {
    return grpc.openCalls();
  }

  /**
   * Returns why this server closed itself, if it did: an essential thread ended, for example a
   * journal lane by an {@link OutOfMemoryError}.
   */
  public Optional<Throwable> failure() {
    return engine.threads().failure().map(failure -> failure);
  }

  /**
   * Called on the thread that has failed. {@link #close} may wait for this thread, so another
   * thread calls it.
   */
  private void fail(Throwable why) {
    readiness.failed(String.valueOf(why.getMessage()));
    try {
      onFailure.accept(why);
    } catch (RuntimeException e) {
      log.atError().setCause(e).log("the listener of the server's failure failed");
    }
    Thread.ofVirtual().name("kagzi-close").start(this::close);
  }

  /** Returns the engine that the gRPC and HTTP servers call. */
  public Engine engine() {
    return engine;
  }

  /**
   * Stops the server: accepts no more calls, ends waiting polls and streams so that their callers
   * reconnect, waits for calls in flight at most for the close timeout, then closes the engine. A
   * second call does nothing.
   */
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    readiness.stopping();
    // Must precede grpc.close(), which ends essential threads: from here on, their end is not a
    // failure.
    engine.threads().close();
    grpc.close();
    engine.close();
    http.close();
    metrics.close();
    log.atInfo().log("server has stopped");
  }
}
