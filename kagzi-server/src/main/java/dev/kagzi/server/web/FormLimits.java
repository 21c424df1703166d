package dev.kagzi.server.web;

import io.javalin.http.Context;
import java.util.Locale;

/**
 * Checks a form before it is read. Everybody may send a login, so reading it must not cost memory
 * or disk: Javalin stores the parts of a multipart form without a limit.
 */
final class FormLimits {
  static final int LOGIN_BYTES_MAX = 16 << 10;

  private static final int LENGTH_REQUIRED = 411;
  private static final int TOO_LARGE = 413;
  private static final int UNSUPPORTED = 415;
  private static final String FORM = "application/x-www-form-urlencoded";

  private FormLimits() {}

  /** Returns the status of the refusal, or 0 if the form may be read. */
  static int refusedStatus(Context context) {
    long length = context.req().getContentLengthLong();
    String type = context.req().getContentType();
    if (length != 0 && type != null && !type.toLowerCase(Locale.ROOT).startsWith(FORM)) {
      return UNSUPPORTED;
    }
    if (!context.path().equals(Login.PATH)) {
      return 0;
    }
    if (length < 0) {
      return LENGTH_REQUIRED;
    }
    return length > LOGIN_BYTES_MAX ? TOO_LARGE : 0;
  }
}
