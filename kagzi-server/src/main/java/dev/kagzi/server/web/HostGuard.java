package dev.kagzi.server.web;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.HashSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Decides by which names a browser may reach the server, and from which pages. Any web page can
 * send requests to a server on loopback, and can make its own name resolve to 127.0.0.1; both are
 * refused here, whether or not a token is set.
 */
final class HostGuard {
  // IP literals are always accepted: a page whose address is an IP literal was served by that
  // address itself, so it cannot belong to another site. Names are different: their owner decides
  // what they resolve to.
  private static final Pattern ADDRESS =
      Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}|\\[[0-9a-f:.]+]");
  private static final Pattern HOST = Pattern.compile("(\\[[0-9a-fA-F:.]+]|[^:\\[\\]]+)(:\\d+)?");
  private static final int HTTP = 80;
  private static final int HTTPS = 443;

  private final Set<String> names = new HashSet<>();
  private final @Nullable URI publicUrl;

  HostGuard(String bindHost, DashboardConfig config) {
    names.add("localhost");
    names.add(bindHost.toLowerCase(Locale.ROOT));
    names.addAll(config.hosts());
    publicUrl = config.publicUrl();
    if (publicUrl != null) {
      names.add(publicUrl.getHost().toLowerCase(Locale.ROOT));
    }
  }

  /** Returns why a request with this Host header is refused, or empty. */
  Optional<String> refuseHost(@Nullable String header) {
    String host = header == null ? "" : name(header);
    if (names.contains(host) || ADDRESS.matcher(host).matches()) {
      return Optional.empty();
    }
    return Optional.of(
        "host: "
            + shown(host)
            + " (expected: an address, localhost, the host of the option host or public-url, or one"
            + " of the option http-hosts)");
  }

  /**
   * Returns why a request from this origin is refused, or empty.
   *
   * @param origin of the page that sends the request; null if the browser names none
   */
  Optional<String> refuseOrigin(@Nullable String origin, @Nullable String host) {
    if (origin == null || isPublic(origin) || isSame(origin, host == null ? "" : host)) {
      return Optional.empty();
    }
    return Optional.of("origin: " + shown(origin) + " (expected: a page of this server)");
  }

  private boolean isPublic(String origin) {
    URI from = parse(origin);
    return publicUrl != null
        && from != null
        && publicUrl.getScheme().equals(from.getScheme())
        && publicUrl.getHost().equalsIgnoreCase(from.getHost())
        && port(publicUrl) == port(from);
  }

  // The scheme is not compared, because a proxy in front of the server may terminate TLS.
  private static boolean isSame(String origin, String host) {
    URI from = parse(origin);
    if (from == null || from.getHost() == null) {
      return false;
    }
    String named = host.toLowerCase(Locale.ROOT);
    String name = from.getHost().toLowerCase(Locale.ROOT);
    return named.equals(name + ":" + port(from))
        || (named.equals(name) && (port(from) == HTTP || port(from) == HTTPS));
  }

  private static int port(URI uri) {
    if (uri.getPort() >= 0) {
      return uri.getPort();
    }
    return "https".equals(uri.getScheme()) ? HTTPS : HTTP;
  }

  private static @Nullable URI parse(String origin) {
    try {
      return new URI(origin);
    } catch (URISyntaxException e) {
      return null;
    }
  }

  private static String name(String header) {
    var matcher = HOST.matcher(header.strip());
    return matcher.matches() ? matcher.group(1).toLowerCase(Locale.ROOT) : "";
  }

  private static String shown(String value) {
    return value.isEmpty() ? "none" : dev.kagzi.engine.value.Refusal.shorten(value);
  }
}
