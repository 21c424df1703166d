package dev.kagzi.server.http;

import dev.kagzi.engine.metrics.Buckets;
import io.javalin.http.Context;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** Measures requests by method, path and status. Callers choose paths, so unknown ones are one. */
final class HttpMetrics {
  private static final String OTHER = "other";
  private static final Set<String> METHODS = Set.of("GET", "HEAD", "POST", "PUT", "DELETE");

  private final MeterRegistry registry;
  private final Set<String> paths;

  HttpMetrics(MeterRegistry registry, Set<String> paths) {
    this.registry = registry;
    this.paths = paths;
  }

  void answered(Context context, float ms) {
    String method = context.method().name();
    Buckets.of(Timer.builder("kagzi.http.requests"))
        .description("HTTP requests, by method, path and status")
        .tag("method", METHODS.contains(method) ? method : OTHER)
        .tag("path", paths.contains(context.path()) ? context.path() : OTHER)
        .tag("status", Integer.toString(context.statusCode()))
        .register(registry)
        .record((long) (ms * 1_000), TimeUnit.MICROSECONDS);
  }
}
