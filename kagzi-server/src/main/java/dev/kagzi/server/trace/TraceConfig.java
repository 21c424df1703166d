package dev.kagzi.server.trace;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where the server exports its spans to.
 *
 * @param endpoint a collector that accepts OTLP over gRPC; empty: nothing is exported
 * @param headers sent with every export, for example for authorization
 */
public record TraceConfig(String endpoint, Map<String, String> headers) {
  public static final TraceConfig OFF = new TraceConfig("", Map.of());

  public TraceConfig {
    headers = Map.copyOf(headers);
    if (!endpoint.isEmpty()) {
      checkEndpoint(endpoint);
    }
  }

  /**
   * Reads the two options.
   *
   * @param headers {@code name=value}, several separated by commas
   * @throws IllegalArgumentException if the endpoint is no http or https address, or a header has
   *     another form; the message does not contain values of headers, which may be secret
   */
  public static TraceConfig read(String endpoint, String headers) {
    Map<String, String> parsed = new LinkedHashMap<>();
    for (String header : headers.isEmpty() ? new String[0] : headers.split(",")) {
      int equals = header.indexOf('=');
      if (equals < 1) {
        throw new IllegalArgumentException(
            "otlp-headers: an entry without a name or a value (expected: name=value,name=value)");
      }
      parsed.put(header.substring(0, equals).strip(), header.substring(equals + 1).strip());
    }
    return new TraceConfig(endpoint, parsed);
  }

  /** Without the values of headers, which may be secret. */
  @Override
  public String toString() {
    return "TraceConfig[endpoint=" + endpoint + ", headers=" + headers.keySet() + "]";
  }

  private static void checkEndpoint(String endpoint) {
    URI uri;
    try {
      uri = new URI(endpoint);
    } catch (URISyntaxException e) {
      throw invalid(endpoint, e);
    }
    boolean http = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
    if (!http || uri.getHost() == null) {
      throw invalid(endpoint, null);
    }
  }

  private static IllegalArgumentException invalid(
      String endpoint, @Nullable URISyntaxException cause) {
    return new IllegalArgumentException(
        "otlp-endpoint: " + endpoint + " (expected: http://host:4317 or https://host:4317)", cause);
  }
}
