package dev.kagzi.server.http;

import dev.kagzi.engine.Engine;
import dev.kagzi.server.callback.CallbackConfig;
import dev.kagzi.server.listen.ListenConfig;
import dev.kagzi.server.listen.Tls;
import dev.kagzi.server.metrics.ServerMetrics;
import dev.kagzi.server.web.Dashboard;
import dev.kagzi.server.web.DashboardConfig;
import dev.kagzi.server.web.WebGuard;
import io.javalin.Javalin;
import io.javalin.config.JavalinConfig;
import io.javalin.http.Context;
import io.javalin.http.Handler;
import java.util.Optional;
import java.util.function.Supplier;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.jspecify.annotations.Nullable;

/** The HTTP server. Thread-safe. */
public final class HttpApi implements AutoCloseable {
  private static final int NOT_FOUND = 404;
  private static final int UNAVAILABLE = 503;
  private static final long REQUEST_BYTES_MAX = 8L << 20;

  private final @Nullable Javalin server;
  private final @Nullable Javalin callbackServer;
  private final @Nullable Dashboard dashboard;

  private HttpApi(
      @Nullable Javalin server, @Nullable Javalin callbackServer, @Nullable Dashboard dashboard) {
    this.server = server;
    this.callbackServer = callbackServer;
    this.dashboard = dashboard;
  }

  /**
   * What the server answers with.
   *
   * @param version shown on the start page
   * @param notReadyReason returns why the server is not ready, or empty; may block
   * @param metrics measures the requests, and is served if metrics are on
   * @param engine returns the engine; throws a Refusal while the server starts
   * @param payloadBytesMax the most bytes that answer a callback
   * @param callbackBytesMax the most bytes of such answers that are held at once
   */
  public record Sources(
      String version,
      Supplier<Optional<String>> notReadyReason,
      ServerMetrics metrics,
      Supplier<Engine> engine,
      int payloadBytesMax,
      long callbackBytesMax) {}

  /** Opens the ports that the configuration has. */
  public static HttpApi start(
      ListenConfig listen, DashboardConfig web, CallbackConfig callbacks, Sources sources) {
    CallbackRoutes routes =
        new CallbackRoutes(
            callbacks, sources.payloadBytesMax(), sources.callbackBytesMax(), sources.engine());
    HttpMetrics requests = new HttpMetrics(sources.metrics().registry());
    Javalin callbackServer =
        callbacks.port() == ListenConfig.NONE
            ? null
            : startCallbacks(listen, callbacks, routes, requests);
    if (listen.httpPort() == ListenConfig.NONE) {
      return new HttpApi(null, callbackServer, null);
    }
    Dashboard dashboard =
        web.enabled()
            ? new Dashboard(listen, web, callbacks.proxies(), sources.version(), sources.engine())
            : null;
    Javalin server =
        Javalin.create(
            config -> {
              configure(config, listen, listen.httpPort());
              config.routes.before(unlessCallback(new WebGuard(listen, web)));
              config.routes.before(unlessCallback(new HttpGuard(listen, dashboard)));
              config.requestLogger.http((context, ms) -> requests.answered(context, ms));
              if (callbackServer == null) {
                routes.register(config.routes);
              }
              register(config, listen, sources, dashboard);
            });
    try {
      server.start(listen.host(), listen.httpPort());
    } catch (RuntimeException e) {
      if (callbackServer != null) {
        callbackServer.stop();
      }
      throw e;
    }
    return new HttpApi(server, callbackServer, dashboard);
  }

  /** A server whose only pages are callbacks, so that the public can reach nothing else. */
  private static Javalin startCallbacks(
      ListenConfig listen, CallbackConfig callbacks, CallbackRoutes routes, HttpMetrics requests) {
    Javalin server =
        Javalin.create(
            config -> {
              configure(config, listen, callbacks.port());
              config.requestLogger.http((context, ms) -> requests.answered(context, ms));
              routes.register(config.routes);
            });
    try {
      return server.start(listen.host(), callbacks.port());
    } catch (RuntimeException e) {
      throw new CallbackPortException(e);
    }
  }

  // Outside systems have neither the server's token nor a certificate, and proxies may change the
  // host. The signed token in the path authorizes their requests.
  private static Handler unlessCallback(Handler guard) {
    return context -> {
      if (!CallbackRoutes.isCallback(context)) {
        guard.handle(context);
      }
    };
  }

  /** The port for callbacks could not be opened. */
  public static final class CallbackPortException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    CallbackPortException(RuntimeException cause) {
      super(cause);
    }
  }

  private static void configure(JavalinConfig config, ListenConfig listen, int port) {
    config.startup.showJavalinBanner = false;
    config.startup.showOldJavalinVersionWarning = false;
    config.startup.startupWatcherEnabled = false;
    config.concurrency.useVirtualThreads = true;
    config.http.maxRequestSize = REQUEST_BYTES_MAX;
    config.jetty.modifyHttpConfiguration(http -> http.setSendServerVersion(false));
    listen.tls().ifPresent(tls -> secure(config, listen.host(), port, tls));
  }

  private static void register(
      JavalinConfig config, ListenConfig listen, Sources sources, @Nullable Dashboard dashboard) {
    config.routes.get("/healthz", context -> text(context, "alive"));
    config.routes.get("/readyz", context -> ready(context, sources.notReadyReason().get()));
    config.routes.get("/metrics", context -> metrics(context, sources.metrics().text()));
    if (dashboard == null) {
      config.routes.get("/", context -> text(context, welcome(listen, sources.version())));
    } else {
      dashboard.register(
          config.routes, context -> text(context, welcome(listen, sources.version())));
    }
  }

  private static void secure(JavalinConfig config, String host, int port, Tls tls) {
    config.jetty.addConnector(
        (server, http) -> {
          ServerConnector connector = connector(server, http, tls);
          connector.setHost(host);
          connector.setPort(port);
          return connector;
        });
  }

  private static ServerConnector connector(Server server, HttpConfiguration http, Tls tls) {
    SslContextFactory.Server ssl = new SslContextFactory.Server();
    ssl.setKeyStore(tls.identity());
    ssl.setKeyStorePassword("");
    if (tls.clientAuthorities() != null) {
      ssl.setTrustStore(tls.clientAuthorities());
      // Optional, not required: health checks send no certificate. HttpGuard requires it elsewhere.
      ssl.setWantClientAuth(true);
    }
    SecureRequestCustomizer secure = new SecureRequestCustomizer();
    // Clients also connect by IP address, which Jetty's SNI check would reject.
    secure.setSniHostCheck(false);
    HttpConfiguration https = new HttpConfiguration(http);
    https.addCustomizer(secure);
    return new ServerConnector(server, ssl, new HttpConnectionFactory(https));
  }

  private static String welcome(ListenConfig listen, String version) {
    return """
        This is Kagzi %s, a durable workflow engine on PostgreSQL.

        Workers and clients talk gRPC, on port %s: Kagzi.connect("HOST:PORT") in Java,
        ./kagzi workflow list on the command line.

        /          in a browser: the dashboard
        /healthz   whether the process is alive
        /readyz    whether it can be used, and if not, why
        /metrics   its metrics, for Prometheus"""
        .formatted(version, listen.grpcPort() > 0 ? listen.grpcPort() : "of its own");
  }

  private static void ready(Context context, Optional<String> notReadyReason) {
    notReadyReason.ifPresent(reason -> context.status(UNAVAILABLE));
    text(context, notReadyReason.map(reason -> "not ready: " + reason).orElse("ready"));
  }

  private static void metrics(Context context, Optional<String> text) {
    if (text.isEmpty()) {
      context.status(NOT_FOUND);
      text(context, "metrics: off (expected: the option metrics to be true)");
      return;
    }
    context.header("Cache-Control", "no-store").contentType(ServerMetrics.CONTENT_TYPE);
    context.result(text.get());
  }

  static void text(Context context, String line) {
    context.header("Cache-Control", "no-store").contentType("text/plain; charset=utf-8");
    context.result(line + "\n");
  }

  public int port() {
    return server == null ? ListenConfig.NONE : server.port();
  }

  /** Returns the port that serves callbacks: one of its own, or the HTTP port. */
  public int callbackPort() {
    return callbackServer == null ? port() : callbackServer.port();
  }

  @Override
  public void close() {
    if (callbackServer != null) {
      callbackServer.stop();
    }
    if (dashboard != null) {
      dashboard.close();
    }
    if (server != null) {
      server.stop();
    }
  }
}
