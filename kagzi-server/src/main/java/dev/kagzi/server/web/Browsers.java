package dev.kagzi.server.web;

import dev.kagzi.server.listen.ListenConfig;
import dev.kagzi.server.web.page.Flash;
import dev.kagzi.server.web.page.PageRequest;
import io.javalin.http.Context;
import io.javalin.http.Cookie;
import io.javalin.http.SameSite;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.Base64;
import java.util.Optional;

/** The cookies of browsers: their session, and the message that their next page shows. */
final class Browsers {
  private static final String SESSION = "kagzi.session";
  private static final String FLASH_COOKIE = "kagzi-flash";
  private static final int FLASH_SECONDS = 60;
  private static final int FLASH_MAX = 2_000;

  private final Sessions sessions;
  private final boolean hasToken;
  private final boolean isSecure;
  private final String version;

  Browsers(ListenConfig listen, DashboardConfig config, String version, InstantSource clock) {
    this.sessions = new Sessions(listen.token().orElse(null), config.sessionTimeout(), clock);
    this.hasToken = listen.token().isPresent();
    this.isSecure = listen.tls().isPresent() || config.isPublishedByTls();
    this.version = version;
  }

  Sessions sessions() {
    return sessions;
  }

  /** Returns whether the browser may see pages. */
  boolean isLoggedIn(Context context) {
    return !hasToken || find(context).filter(Sessions.Session::isLoggedIn).isPresent();
  }

  Optional<Sessions.Session> find(Context context) {
    Sessions.Session known = context.attribute(SESSION);
    return known != null
        ? Optional.of(known)
        : sessions.find(context.cookie(sessions.cookieName()));
  }

  /** Returns the browser's session, or gives it one that permits nothing. */
  Sessions.Session require(Context context) {
    return find(context).orElseGet(() -> begin(context, false));
  }

  /** Gives the browser a new session. */
  Sessions.Session begin(Context context, boolean isLoggedIn) {
    String cookie = sessions.create(isLoggedIn);
    set(context, sessions.cookieName(), cookie, Math.toIntExact(sessions.timeoutSeconds()));
    Sessions.Session session = sessions.find(cookie).orElseThrow();
    context.attribute(SESSION, session);
    return session;
  }

  void end(Context context) {
    find(context).ifPresent(sessions::end);
    set(context, sessions.cookieName(), "", 0);
  }

  void flash(Context context, Flash flash) {
    if (flash.isEmpty()) {
      return;
    }
    String text = flash.text();
    String kept = text.length() > FLASH_MAX ? text.substring(0, FLASH_MAX) + "…" : text;
    byte[] bytes = ((flash.isError() ? "-" : "+") + kept).getBytes(StandardCharsets.UTF_8);
    String value = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    set(context, FLASH_COOKIE, value, FLASH_SECONDS);
  }

  private Flash takeFlash(Context context) {
    String cookie = context.cookie(FLASH_COOKIE);
    if (cookie == null || cookie.isEmpty()) {
      return Flash.NONE;
    }
    set(context, FLASH_COOKIE, "", 0);
    try {
      String text = new String(Base64.getUrlDecoder().decode(cookie), StandardCharsets.UTF_8);
      return text.isEmpty() ? Flash.NONE : new Flash(text.startsWith("-"), text.substring(1));
    } catch (IllegalArgumentException notOurs) {
      return Flash.NONE;
    }
  }

  /** Returns the browser behind a request for a page. */
  PageRequest.Viewer viewer(Context context) {
    Sessions.Session session = require(context);
    return new PageRequest.Viewer(
        sessions.formToken(session), session.isLoggedIn(), version, takeFlash(context));
  }

  private void set(Context context, String name, String value, int seconds) {
    context.cookie(new Cookie(name, value, "/", seconds, isSecure, true, null, SameSite.STRICT));
  }
}
