package dev.kagzi.server.http;

import dev.kagzi.engine.metrics.Buckets;
import io.javalin.http.Context;
import io.javalin.router.Endpoint;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Measures requests by method, path and status. The label {@code path} is the path of the matching
 * route, without the values of its parameters. All requests that match no route share one label,
 * because callers choose their paths. Live streams are not measured: they last until the browser
 * closes the page.
 */
final class HttpMetrics {
  private static final String OTHER = "other";
  private static final Set<String> METHODS = Set.of("GET", "HEAD", "POST", "PUT", "DELETE");

  private final MeterRegistry registry;

  HttpMetrics(MeterRegistry registry) {
    this.registry = registry;
  }

  void answered(Context context, float ms) {
    if (context.path().startsWith("/live/")) {
      return;
    }
    String method = context.method().name();
    Buckets.of(Timer.builder("kagzi.http.requests"))
        .description("HTTP requests, by method, path and status")
        .tag("method", METHODS.contains(method) ? method : OTHER)
        .tag("path", path(context))
        .tag("status", Integer.toString(context.statusCode()))
        .register(registry)
        .record((long) (ms * 1_000), TimeUnit.MICROSECONDS);
  }

  private static String path(Context context) {
    Endpoint matched = context.endpoints().lastHttpEndpoint();
    return matched == null ? OTHER : matched.path;
  }
}
