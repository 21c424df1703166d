package dev.kagzi.server;

import dev.kagzi.engine.Engine;
import dev.kagzi.server.grpc.GrpcEdge;
import dev.kagzi.server.grpc.GrpcSettings;
import dev.kagzi.server.http.HttpEdge;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
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

  private final Readiness readiness;
  private final HttpEdge http;
  private final Engine engine;
  private final GrpcEdge grpc;
  private final AtomicBoolean closed = new AtomicBoolean();

  private KagziServer(Readiness readiness, HttpEdge http, Engine engine, GrpcEdge grpc) {
    this.readiness = readiness;
    this.http = http;
    this.engine = engine;
    this.grpc = grpc;
  }

  /**
   * Starts a server and returns when it is ready: the database is migrated and both ports are open.
   * When any of it fails, nothing is left running.
   */
  public static KagziServer start(ServerConfig config) {
    Readiness readiness = new Readiness();
    // Beside the engine, not before it: each takes a good part of the time until ready.
    CompletableFuture<HttpEdge> http =
        CompletableFuture.supplyAsync(
            () -> HttpEdge.start(config.host(), config.httpPort(), readiness::trouble),
            task -> Thread.ofPlatform().name("kagzi-http-start").start(task));
    try {
      return start(config, readiness, http);
    } catch (RuntimeException e) {
      http.thenAccept(HttpEdge::close);
      throw e;
    }
  }

  private static KagziServer start(
      ServerConfig config, Readiness readiness, CompletableFuture<HttpEdge> http) {
    Engine engine = Engine.start(config.database(), config.engine());
    try {
      readiness.engineStarted(engine);
      return start(config, readiness, http, engine);
    } catch (RuntimeException e) {
      engine.close();
      throw e;
    }
  }

  private static KagziServer start(
      ServerConfig config, Readiness readiness, CompletableFuture<HttpEdge> http, Engine engine) {
    GrpcEdge grpc = openGrpc(config, readiness, engine);
    try {
      KagziServer server = new KagziServer(readiness, opened(config, http), engine, grpc);
      readiness.accepting();
      grpc.serve();
      log.atInfo()
          .addKeyValue("host", config.host())
          .addKeyValue("grpc", server.grpcPort())
          .addKeyValue("http", server.httpPort())
          .log("server is ready");
      return server;
    } catch (RuntimeException e) {
      grpc.close();
      throw e;
    }
  }

  private static GrpcEdge openGrpc(ServerConfig config, Readiness readiness, Engine engine) {
    GrpcSettings settings =
        new GrpcSettings(
            config.host(), config.grpcPort(), config.reflection(), ServerVersion.read());
    try {
      return GrpcEdge.start(settings, engine, readiness::trouble, config.closeTimeout());
    } catch (IOException e) {
      throw new UncheckedIOException(notFree("gRPC", config.host(), config.grpcPort()), e);
    }
  }

  private static HttpEdge opened(ServerConfig config, CompletableFuture<HttpEdge> http) {
    try {
      return http.join();
    } catch (CompletionException e) {
      throw new IllegalStateException(notFree("HTTP", config.host(), config.httpPort()), e);
    }
  }

  private static String notFree(String what, String host, int port) {
    return what + " port: " + host + ":" + port + " (expected: one that is free)";
  }

  /** The port where gRPC is. */
  public int grpcPort() {
    return grpc.port();
  }

  /** The port where HTTP is. */
  public int httpPort() {
    return http.port();
  }

  /** How many polls, awaits and streams are open. */
  int openCalls() {
    return grpc.openCalls();
  }

  /** The engine behind the edges. */
  public Engine engine() {
    return engine;
  }

  /**
   * Stops: takes no more calls, sends waiting callers elsewhere, lets reports under way commit,
   * then ends the engine. Bounded by the configuration's close timeout. Does nothing the second
   * time.
   */
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    readiness.stopping();
    grpc.close();
    engine.close();
    http.close();
    log.atInfo().log("server has stopped");
  }
}
