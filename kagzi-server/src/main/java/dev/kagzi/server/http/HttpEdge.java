package dev.kagzi.server.http;

import io.javalin.Javalin;
import io.javalin.config.JavalinConfig;
import io.javalin.http.Context;
import java.util.Optional;
import java.util.function.Supplier;

/** The HTTP server. Thread-safe. */
public final class HttpEdge implements AutoCloseable {
  private static final int UNAVAILABLE = 503;

  private final Javalin server;

  private HttpEdge(Javalin server) {
    this.server = server;
  }

  /**
   * Opens the port.
   *
   * @param port 0 for a free one
   * @param trouble why the server is not ready, or nothing; may block
   */
  public static HttpEdge start(String host, int port, Supplier<Optional<String>> trouble) {
    Javalin server = Javalin.create(config -> configure(config, trouble));
    server.start(host, port);
    return new HttpEdge(server);
  }

  private static void configure(JavalinConfig config, Supplier<Optional<String>> trouble) {
    config.startup.showJavalinBanner = false;
    config.startup.startupWatcherEnabled = false;
    config.concurrency.useVirtualThreads = true;
    config.jetty.modifyHttpConfiguration(http -> http.setSendServerVersion(false));
    config.routes.get("/healthz", context -> text(context, "alive"));
    config.routes.get("/readyz", context -> ready(context, trouble.get()));
  }

  private static void ready(Context context, Optional<String> trouble) {
    trouble.ifPresent(reason -> context.status(UNAVAILABLE));
    text(context, trouble.map(reason -> "not ready: " + reason).orElse("ready"));
  }

  private static void text(Context context, String line) {
    context.header("Cache-Control", "no-store").contentType("text/plain; charset=utf-8");
    context.result(line + "\n");
  }

  /** The port that is open. */
  public int port() {
    return server.port();
  }

  @Override
  public void close() {
    server.stop();
  }
}
