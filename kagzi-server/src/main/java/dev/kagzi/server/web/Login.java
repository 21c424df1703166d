package dev.kagzi.server.web;

import dev.kagzi.server.callback.TrustedProxies;
import dev.kagzi.server.listen.AccessToken;
import dev.kagzi.server.listen.ListenConfig;
import dev.kagzi.server.web.page.Flash;
import dev.kagzi.server.web.page.Frame;
import dev.kagzi.server.web.page.LoginModel;
import dev.kagzi.server.web.page.PageReply;
import dev.kagzi.server.web.page.PageRequest;
import io.javalin.http.Context;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The login page: exchanges the token for a session. */
final class Login {
  static final String PATH = "/login";

  private static final Logger log = LoggerFactory.getLogger(Login.class);
  // In characters. The encoded link is up to three times as long, and a response has at most 8 KiB
  // of headers.
  private static final int NEXT_MAX = 2_000;
  private static final int UNAUTHORIZED = 401;
  private static final int TOO_MANY = 429;

  private final Optional<AccessToken> token;
  private final TrustedProxies proxies;
  private final Browsers browsers;
  private final LoginLimit limit;
  private final InstantSource clock;

  Login(ListenConfig listen, TrustedProxies proxies, Browsers browsers, InstantSource clock) {
    this.token = listen.token();
    this.proxies = proxies;
    this.browsers = browsers;
    this.limit = new LoginLimit(clock);
    this.clock = clock;
  }

  /** Returns the link to the login page that leads back to the requested one. */
  static String href(Context context) {
    String query = context.queryString() == null ? "" : "?" + context.queryString();
    String next = context.path() + query;
    return next.equals("/") || next.length() > NEXT_MAX
        ? PATH
        : PATH + "?next=" + URLEncoder.encode(next, StandardCharsets.UTF_8);
  }

  PageReply show(Context context) {
    String next = local(context.queryParam("next"));
    return browsers.isLoggedIn(context)
        ? PageReply.redirect(next, Flash.NONE)
        : page(context, PageReply.OK, next, "");
  }

  PageReply enter(Context context) {
    String next = local(context.formParam("next"));
    String entered = context.formParam("token");
    if (token.isPresent() && (entered == null || !token.get().isToken(entered.strip()))) {
      return refuse(context, next);
    }
    browsers.endLogin(context);
    browsers.begin(context, true);
    return PageReply.redirect(next, Flash.NONE);
  }

  private PageReply refuse(Context context, String next) {
    String address = proxies.caller(context.ip(), context.header("X-Forwarded-For"));
    boolean isTooMany = limit.isExceededBy(address);
    if (isTooMany) {
      context.header("Retry-After", "60");
    } else {
      log.atWarn().addKeyValue("address", address).log("login with a wrong token");
    }
    int status = isTooMany ? TOO_MANY : UNAUTHORIZED;
    return page(context, status, next, "This is not the server's token.");
  }

  PageReply leave(Context context) {
    browsers.deleteLogin(context);
    browsers.endLogin(context);
    return PageReply.redirect(PATH, Flash.NONE);
  }

  private PageReply page(Context context, int status, String next, String problem) {
    Frame frame = PageRequest.bareFrame("Log in", browsers.viewer(context), clock.instant());
    return PageReply.page(status, "login", frame, new LoginModel(next, problem));
  }

  // Accepts only paths of this server: anything else could redirect the browser to another site.
  private static String local(@org.jspecify.annotations.Nullable String next) {
    boolean isLocal =
        next != null
            && next.startsWith("/")
            && !next.startsWith("//")
            && next.chars().noneMatch(c -> c == '\\' || c < ' ');
    return next != null && isLocal ? next : "/";
  }
}
