package dev.kagzi.server.web.page;

import java.util.Map;

/** The answer to a request. */
public sealed interface PageReply {

  /** A page or a fragment of one; the template's name has no ending. */
  record Html(int status, String template, Map<String, Object> values) implements PageReply {
    public Html {
      values = Map.copyOf(values);
    }
  }

  /** Sends the browser to another page of the dashboard, which shows the message once. */
  record Redirect(String href, Flash flash) implements PageReply {}

  /** A file that the browser stores. */
  @SuppressWarnings("ArrayRecordComponent") // Never compared, and never changed.
  record Download(String fileName, String contentType, byte[] content) implements PageReply {}

  int OK = 200;

  /** A form has a value that is wrong. */
  int REFUSED = 400;

  int NOT_FOUND = 404;

  /** A page: its template has the parameters {@code frame} and {@code model}. */
  static PageReply page(String template, Frame frame, Object model) {
    return new Html(OK, template, Map.of("frame", frame, "model", model));
  }

  /** A page about something that was refused, for example a form that is shown again. */
  static PageReply page(int status, String template, Frame frame, Object model) {
    return new Html(status, template, Map.of("frame", frame, "model", model));
  }

  /** A part of a page: its template has the parameter {@code model} only. */
  static PageReply fragment(String template, Object model) {
    return new Html(OK, template, Map.of("model", model));
  }

  static PageReply redirect(String href, Flash flash) {
    return new Redirect(href, flash);
  }
}
