package dev.kagzi.server.web;

import dev.kagzi.server.web.overview.AttentionLimits;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of the dashboard.
 *
 * @param enabled whether it is served
 * @param publicUrl the URL by which browsers reach it through a proxy; null if they reach it
 *     directly
 * @param hosts further names by which browsers may reach it, in lower case
 * @param sessionTimeout how long a login lasts
 * @param attention the limits from which the overview shows that something needs attention
 */
public record DashboardConfig(
    boolean enabled,
    @Nullable URI publicUrl,
    List<String> hosts,
    Duration sessionTimeout,
    AttentionLimits attention) {

  public DashboardConfig {
    hosts = List.copyOf(hosts);
  }

  /** Parses the values of the options {@code public-url} and {@code http-hosts}. */
  public static DashboardConfig read(
      boolean enabled,
      String publicUrl,
      String hosts,
      Duration sessionTimeout,
      AttentionLimits attention) {
    return new DashboardConfig(enabled, url(publicUrl), hosts(hosts), sessionTimeout, attention);
  }

  public DashboardConfig withEnabled(boolean on) {
    return new DashboardConfig(on, publicUrl, hosts, sessionTimeout, attention);
  }

  private static @Nullable URI url(String text) {
    if (text.isEmpty()) {
      return null;
    }
    try {
      URI url = new URI(text);
      boolean isWeb = "http".equals(url.getScheme()) || "https".equals(url.getScheme());
      // A URL such as http:x has neither a host nor a path.
      if (isWeb && url.getHost() != null && url.getPath().matches("/?")) {
        return url;
      }
    } catch (URISyntaxException e) {
      throw badUrl(text, e);
    }
    throw badUrl(text, null);
  }

  private static IllegalArgumentException badUrl(String text, @Nullable Throwable cause) {
    return new IllegalArgumentException(
        "public-url: " + text + " (expected: such as https://kagzi.example.com, without a path)",
        cause);
  }

  private static List<String> hosts(String text) {
    return Arrays.stream(text.split(",", -1))
        .map(host -> host.strip().toLowerCase(Locale.ROOT))
        .filter(host -> !host.isEmpty())
        .toList();
  }

  boolean isPublishedByTls() {
    return publicUrl != null && "https".equals(publicUrl.getScheme());
  }
}
