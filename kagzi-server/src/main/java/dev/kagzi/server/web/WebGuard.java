package dev.kagzi.server.web;

import dev.kagzi.server.listen.AccessToken;
import dev.kagzi.server.listen.ListenConfig;
import io.javalin.http.Context;
import io.javalin.http.Handler;
import java.util.Optional;
import java.util.Set;

/**
 * Refuses requests whose host is not a name of this server, and requests from pages of other sites.
 * Also sends the headers by which browsers restrict a page: it loads scripts and styles from this
 * server only, none of them inline, and no other page can show it in a frame.
 */
public final class WebGuard implements Handler {
  private static final int FORBIDDEN = 403;
  private static final int MISDIRECTED = 421;
  private static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
          + " form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

  // Probes send any Host header, and these responses contain nothing that a page could use.
  private static final Set<String> OPEN = Set.of("/healthz", "/readyz");
  private static final Set<String> FOREIGN = Set.of("cross-site", "same-site");

  private final HostGuard hosts;
  private final Optional<AccessToken> token;

  public WebGuard(ListenConfig listen, DashboardConfig config) {
    this.hosts = new HostGuard(listen.host(), config);
    this.token = listen.token();
  }

  @Override
  public void handle(Context context) {
    context
        .header("Content-Security-Policy", POLICY)
        .header("X-Content-Type-Options", "nosniff")
        .header("X-Frame-Options", "DENY")
        // Not no-referrer: with it, browsers send forms of our own pages with the origin "null".
        .header("Referrer-Policy", "same-origin")
        .header("Cross-Origin-Opener-Policy", "same-origin")
        .header("Cross-Origin-Resource-Policy", "same-origin");
    if (!OPEN.contains(context.path()) && !hasToken(context)) {
      check(context);
    }
  }

  // A page of another site cannot know the token, so a request with the token is not from such a
  // page.
  private boolean hasToken(Context context) {
    return token.isPresent() && token.get().accepts(context.header("Authorization"));
  }

  private void check(Context context) {
    String host = context.header("Host");
    Optional<String> wrongHost = hosts.refuseHost(host);
    if (wrongHost.isPresent()) {
      refuse(context, MISDIRECTED, wrongHost.get());
      return;
    }
    hosts
        .refuseOrigin(context.header("Origin"), host)
        .or(() -> refuseForeignUse(context))
        .ifPresent(why -> refuse(context, FORBIDDEN, why));
  }

  private static Optional<String> refuseForeignUse(Context context) {
    String site = context.header("Sec-Fetch-Site");
    return site != null && FOREIGN.contains(site) && !isLink(context)
        ? Optional.of("sec-fetch-site: " + site + " (expected: a page of this server, or a link)")
        : Optional.empty();
  }

  // Other sites may link to a page, but not embed it as an image, a script or a frame. They could
  // not read it, but could keep the server busy and hold live streams open.
  private static boolean isLink(Context context) {
    String method = context.req().getMethod();
    return (method.equals("GET") || method.equals("HEAD"))
        && "navigate".equals(context.header("Sec-Fetch-Mode"))
        && "document".equals(context.header("Sec-Fetch-Dest"));
  }

  private static void refuse(Context context, int status, String why) {
    context.status(status).contentType("text/plain; charset=utf-8");
    context.header("Cache-Control", "no-store").result(why + "\n");
    context.skipRemainingHandlers();
  }
}
