package dev.kagzi.server.http;

import dev.kagzi.server.listen.AccessToken;
import dev.kagzi.server.listen.ListenConfig;
import dev.kagzi.server.listen.Tls;
import dev.kagzi.server.web.Dashboard;
import io.javalin.http.Context;
import io.javalin.http.Handler;
import io.javalin.http.HandlerType;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Requires the client certificate if mutual TLS is configured, and the token, or a session that was
 * opened with it, if a token is configured. Health checks need neither; the login page and its
 * assets need no token. A browser without a session is sent to the login page.
 */
final class HttpGuard implements Handler {
  private static final int UNAUTHORIZED = 401;
  private static final Set<String> OPEN = Set.of("/healthz", "/readyz");
  private static final String CERTIFICATES = "jakarta.servlet.request.X509Certificate";

  private final Optional<AccessToken> token;
  private final boolean wantsCertificate;
  private final @Nullable Dashboard dashboard;

  HttpGuard(ListenConfig listen, @Nullable Dashboard dashboard) {
    this.dashboard = dashboard;
    this.token = listen.token();
    this.wantsCertificate = listen.tls().filter(Tls::isMutual).isPresent();
  }

  @Override
  public void handle(Context context) {
    if (OPEN.contains(context.path())) {
      return;
    }
    if (wantsCertificate && context.attribute(CERTIFICATES) == null) {
      refuse(context, "certificate: none (expected: one of a client)");
    } else if (token.isPresent()
        && !token.get().accepts(context.header("Authorization"))
        && !isBrowserAllowed(context)) {
      askForToken(context);
    }
  }

  private boolean isBrowserAllowed(Context context) {
    return dashboard != null && (dashboard.isOpen(context.path()) || dashboard.isLoggedIn(context));
  }

  private void askForToken(Context context) {
    if (dashboard != null
        && context.method().equals(HandlerType.GET)
        && Dashboard.wantsPage(context)) {
      dashboard.askLogin(context);
      context.skipRemainingHandlers();
      return;
    }
    context.header("WWW-Authenticate", "Bearer");
    refuse(context, "authorization: not the server's token (expected: Bearer TOKEN)");
  }

  private static void refuse(Context context, String why) {
    context.status(UNAUTHORIZED);
    HttpApi.text(context, why);
    context.skipRemainingHandlers();
  }
}
