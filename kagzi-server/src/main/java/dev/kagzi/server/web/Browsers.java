package dev.kagzi.server.web;

import dev.kagzi.engine.request.EndedLogins;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.server.listen.ListenConfig;
import dev.kagzi.server.web.page.Flash;
import dev.kagzi.server.web.page.PageRequest;
import io.javalin.http.Context;
import io.javalin.http.Cookie;
import io.javalin.http.SameSite;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Base64;
import java.util.Comparator;
import java.util.Optional;
import java.util.function.Supplier;

/** The cookies of browsers: their session, and the message that their next page shows. */
final class Browsers {
  private static final String SESSION = "kagzi.session";
  private static final String FLASH_COOKIE = "kagzi-flash";
  private static final int FLASH_SECONDS = 60;
  // In characters. Each has at most four bytes, and Base64 adds a third; browsers refuse cookies of
  // more than 4,096 bytes.
  private static final int FLASH_MAX = 700;

  private final Sessions sessions;
  private final Supplier<EndedLogins> ended;
  private final HangGuard hangs;
  private final boolean hasToken;
  private final boolean isSecure;
  private final String version;

  Browsers(
      ListenConfig listen,
      DashboardConfig config,
      String version,
      Supplier<EndedLogins> ended,
      HangGuard hangs,
      InstantSource clock) {
    this.ended = ended;
    this.hangs = hangs;
    this.sessions = new Sessions(listen.token().orElse(null), config.sessionTimeout(), clock);
    this.hasToken = listen.token().isPresent();
    this.isSecure = listen.tls().isPresent() || config.isPublishedByTls();
    this.version = version;
  }

  Sessions sessions() {
    return sessions;
  }

  /** Returns whether the browser may see pages. Reads the database and blocks. */
  boolean isLoggedIn(Context context) {
    return !hasToken
        || find(context).filter(session -> session.isLoggedIn() && !isEnded(session)).isPresent();
  }

  private boolean isEnded(Sessions.Session session) {
    return hangs.call(() -> ended.get().contains(session.login()));
  }

  /** Returns whether a page may stay live. Reads the database and blocks. */
  boolean isOpen(Sessions.Session session) {
    try {
      return !sessions.hasExpired(session) && !(hasToken && isEnded(session));
    } catch (Refusal databaseAway) {
      // While the database does not answer, no fragment can be sent. The check after its next
      // answer decides.
      return true;
    }
  }

  Optional<Sessions.Session> find(Context context) {
    Sessions.Session known = context.attribute(SESSION);
    return known != null ? Optional.of(known) : sent(context);
  }

  // A browser can send both cookies, and another server on this host can set cookies of the same
  // names. A session that is logged in wins.
  private Optional<Sessions.Session> sent(Context context) {
    jakarta.servlet.http.Cookie[] cookies = context.req().getCookies();
    return cookies == null
        ? Optional.empty()
        : Arrays.stream(cookies)
            .filter(cookie -> isSession(cookie.getName()))
            .flatMap(cookie -> sessions.find(cookie.getValue()).stream())
            .max(Comparator.comparing(Sessions.Session::isLoggedIn));
  }

  private boolean isSession(String cookie) {
    return cookie.equals(sessions.cookieName(true)) || cookie.equals(sessions.cookieName(false));
  }

  /** Returns the browser's session, or gives it one that permits nothing. */
  Sessions.Session require(Context context) {
    return find(context).orElseGet(() -> begin(context, false));
  }

  /** Gives the browser a new session. */
  Sessions.Session begin(Context context, boolean isLoggedIn) {
    String cookie = sessions.create(isLoggedIn);
    String name = sessions.cookieName(isLoggedIn);
    set(context, name, cookie, Math.toIntExact(sessions.timeoutSeconds()));
    Sessions.Session session = sessions.find(cookie).orElseThrow();
    context.attribute(SESSION, session);
    return session;
  }

  /** Ends the login of the browser's session on all servers. Writes to the database and blocks. */
  void endLogin(Context context) {
    find(context)
        .filter(Sessions.Session::isLoggedIn)
        .ifPresent(session -> hangs.change(() -> end(session)));
  }

  private Sessions.Session end(Sessions.Session session) {
    ended.get().add(session.login());
    return session;
  }

  void deleteLogin(Context context) {
    set(context, sessions.cookieName(true), "", 0);
  }

  void flash(Context context, Flash flash) {
    if (flash.isEmpty()) {
      return;
    }
    String text = flash.text();
    int end =
        text.offsetByCodePoints(0, Math.min(FLASH_MAX, text.codePointCount(0, text.length())));
    String kept = end < text.length() ? text.substring(0, end) + "…" : text;
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

  /**
   * Returns the browser behind a request for a page, which shows the message of the last action.
   * Deletes the cookie of the message.
   */
  PageRequest.Viewer viewer(Context context) {
    return viewer(context, takeFlash(context));
  }

  /** Returns the browser behind a request for a part of a page, which shows no message. */
  PageRequest.Viewer viewerOfPart(Context context) {
    return viewer(context, Flash.NONE);
  }

  private PageRequest.Viewer viewer(Context context, Flash flash) {
    Sessions.Session session = require(context);
    return new PageRequest.Viewer(
        sessions.formToken(session), session.isLoggedIn(), version, flash);
  }

  // Not Strict: a link from another site would come without the session, and open the login page.
  // The form token and WebGuard refuse forms of other sites, and a GET changes nothing.
  private void set(Context context, String name, String value, int seconds) {
    context.cookie(new Cookie(name, value, "/", seconds, isSecure, true, null, SameSite.LAX));
  }
}
