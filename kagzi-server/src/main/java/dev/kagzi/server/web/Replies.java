package dev.kagzi.server.web;

import dev.kagzi.engine.value.Refusal;
import dev.kagzi.server.web.page.ErrorModel;
import dev.kagzi.server.web.page.Frame;
import dev.kagzi.server.web.page.PageReply;
import dev.kagzi.server.web.page.PageRequest;
import io.javalin.http.Context;
import io.javalin.http.HttpStatus;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;

/** Sends replies to browsers. */
final class Replies {
  private final Templates templates = new Templates();
  private final Browsers browsers;
  private final InstantSource clock;

  Replies(Browsers browsers, InstantSource clock) {
    this.browsers = browsers;
    this.clock = clock;
  }

  void send(Context context, PageReply reply) {
    context.header("Cache-Control", "no-store");
    switch (reply) {
      case PageReply.Html html ->
          context
              .status(html.status())
              .contentType("text/html; charset=utf-8")
              .result(templates.render(html));
      case PageReply.Redirect redirect -> {
        browsers.flash(context, redirect.flash());
        context.redirect(redirect.href(), HttpStatus.SEE_OTHER);
      }
      case PageReply.Download file ->
          context
              .contentType(file.contentType())
              .header(
                  "Content-Disposition",
                  "attachment; filename*=UTF-8''"
                      + URLEncoder.encode(file.fileName(), StandardCharsets.UTF_8)
                          .replace("+", "%20"))
              .result(file.content());
    }
  }

  /** Renders a fragment. */
  String fragment(PageReply reply) {
    if (reply instanceof PageReply.Html html) {
      return templates.render(html);
    }
    throw new IllegalStateException("reply: " + reply + " (expected: a fragment of a page)");
  }

  void refused(Context context, Refusal refusal) {
    error(context, status(refusal.reason()), String.valueOf(refusal.getMessage()));
  }

  void error(Context context, int status, String message) {
    Frame frame = PageRequest.bareFrame("Error", browsers.viewer(context), clock.instant());
    send(context, PageReply.page(status, "error", frame, new ErrorModel(status, message)));
  }

  private static int status(Refusal.Reason reason) {
    return switch (reason) {
      case INVALID_ARGUMENT -> 400;
      case UNAUTHENTICATED -> 401;
      case NOT_FOUND -> 404;
      case ALREADY_EXISTS, FAILED_PRECONDITION, ABORTED -> 409;
      case RESOURCE_EXHAUSTED -> 429;
      case INTERNAL -> 500;
      case UNIMPLEMENTED -> 501;
      case UNAVAILABLE -> 503;
    };
  }
}
