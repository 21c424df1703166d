package dev.kagzi.server.http;

import dev.kagzi.server.listen.AccessToken;
import dev.kagzi.server.listen.ListenConfig;
import dev.kagzi.server.listen.Tls;
import io.javalin.http.Context;
import io.javalin.http.Handler;
import java.util.Optional;
import java.util.Set;

/** Requires the token and the client certificate that are configured, except for health checks. */
final class HttpGuard implements Handler {
  private static final int UNAUTHORIZED = 401;
  private static final Set<String> OPEN = Set.of("/healthz", "/readyz");
  private static final String CERTIFICATES = "jakarta.servlet.request.X509Certificate";

  private final Optional<AccessToken> token;
  private final boolean wantsCertificate;

  HttpGuard(ListenConfig listen) {
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
    } else if (token.isPresent() && !token.get().accepts(context.header("Authorization"))) {
      context.header("WWW-Authenticate", "Bearer");
      refuse(context, "authorization: not the server's token (expected: Bearer TOKEN)");
    }
  }

  private static void refuse(Context context, String why) {
    context.status(UNAUTHORIZED);
    HttpApi.text(context, why);
    context.skipRemainingHandlers();
  }
}
