package dev.kagzi.engine.value;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A refused request. The message for the caller contains the found and the expected value. Nothing
 * was stored, unless the database failed: then the outcome is unknown.
 */
public final class Refusal extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private static final int SHOWN_MAX = 100;

  /** The class of a refusal; it decides how a caller can react. */
  public enum Reason {
    /** The request is invalid and will be refused again. */
    INVALID_ARGUMENT,
    UNAUTHENTICATED,
    NOT_FOUND,
    ALREADY_EXISTS,
    /** The request does not fit the current state. */
    FAILED_PRECONDITION,
    /**
     * The step has failed permanently, or the client of {@code GetHistory} has gone or reads
     * nothing for too long.
     */
    ABORTED,
    /** A limit is reached; a later try may succeed. */
    RESOURCE_EXHAUSTED,
    /** The database is unavailable or the server stops; try again. */
    UNAVAILABLE,
    /** The field or call belongs to a feature that this server does not have. */
    UNIMPLEMENTED,
    INTERNAL
  }

  /**
   * The stable error code that is sent to the caller. {@code docs/errors.md} explains the meaning
   * of each and what to do.
   */
  public enum Code {
    INVALID_ARGUMENT(Reason.INVALID_ARGUMENT),
    PARENT_NOT_FOUND(Reason.INVALID_ARGUMENT),
    UNAUTHENTICATED(Reason.UNAUTHENTICATED),
    NOT_FOUND(Reason.NOT_FOUND),
    CALLBACK_NOT_FOUND(Reason.NOT_FOUND),
    ALREADY_EXISTS(Reason.ALREADY_EXISTS),
    ID_IN_USE(Reason.ALREADY_EXISTS),
    RUN_ID_IN_USE(Reason.ALREADY_EXISTS),
    FAILED_PRECONDITION(Reason.FAILED_PRECONDITION),
    NAMESPACE_DISABLED(Reason.FAILED_PRECONDITION),
    CLAIM_LOST(Reason.FAILED_PRECONDITION),
    STEP_ENDED(Reason.FAILED_PRECONDITION),
    RUN_ENDED(Reason.FAILED_PRECONDITION),
    SIGNALS_UNSUPPORTED(Reason.FAILED_PRECONDITION),
    TOO_MANY_SIGNALS(Reason.FAILED_PRECONDITION),
    CALLBACKS_OFF(Reason.FAILED_PRECONDITION),
    RUN_CONTINUED(Reason.FAILED_PRECONDITION),
    OPEN_STEPS(Reason.FAILED_PRECONDITION),
    WORKER_OFFLINE(Reason.FAILED_PRECONDITION),
    ABORTED(Reason.ABORTED),
    STEP_FAILED(Reason.ABORTED),
    RESOURCE_EXHAUSTED(Reason.RESOURCE_EXHAUSTED),
    UNAVAILABLE(Reason.UNAVAILABLE),
    SERVER_STOPPING(Reason.UNAVAILABLE),
    UNIMPLEMENTED(Reason.UNIMPLEMENTED),
    INTERNAL(Reason.INTERNAL);

    private final Reason reason;

    Code(Reason reason) {
      this.reason = reason;
    }

    public Reason reason() {
      return reason;
    }
  }

  private final Code code;
  private final String subject;
  private final String subjectId;
  private final transient @Nullable Failure failure;

  private Refusal(Code code, String subject, String subjectId, String message) {
    this(code, subject, subjectId, message, null);
  }

  private Refusal(
      Code code, String subject, String subjectId, String message, @Nullable Failure failure) {
    super(message);
    this.failure = failure;
    this.code = code;
    this.subject = subject;
    this.subjectId = subjectId;
  }

  /** {@code subject} is the kind of object that the refusal is about, for example "run". */
  public static Refusal of(Code code, String subject, String subjectId, String message) {
    return new Refusal(code, subject, subjectId, message);
  }

  /** Like {@link #of(Code, String, String, String)}, with the code named like the reason. */
  public static Refusal of(Reason reason, String subject, String subjectId, String message) {
    return new Refusal(Code.valueOf(reason.name()), subject, subjectId, message);
  }

  /** The caller asked for a result, but a failure is recorded; the refusal contains it. */
  public static Refusal recorded(
      Code code, String subject, String subjectId, String message, @Nullable Failure failure) {
    return new Refusal(code, subject, subjectId, message, failure);
  }

  public static Refusal invalid(String field, Object found, String expected) {
    return new Refusal(
        Code.INVALID_ARGUMENT,
        field,
        "",
        String.format(Locale.ROOT, "%s: %s (expected: %s)", field, shorten(found), expected));
  }

  public static Refusal notFound(String subject, Object id) {
    return new Refusal(
        Code.NOT_FOUND, subject, shorten(id), subject + " not found: " + shorten(id));
  }

  /** Names the namespace too: what is not found in one may exist in another. */
  public static Refusal notFound(String subject, Object id, String namespace) {
    return new Refusal(
        Code.NOT_FOUND,
        subject,
        shorten(id),
        "%s not found in namespace %s: %s".formatted(subject, shorten(namespace), shorten(id)));
  }

  /**
   * Cuts long values and escapes control characters and unpaired surrogates, which gRPC headers,
   * logs and terminals cannot show.
   */
  public static String shorten(Object value) {
    String text = String.valueOf(value);
    return text.length() <= SHOWN_MAX
        ? visible(text)
        : visible(text.substring(0, SHOWN_MAX)) + "… (" + text.length() + " characters)";
  }

  private static String visible(String text) {
    if (text.codePoints().noneMatch(Refusal::isHidden)) {
      return text;
    }
    StringBuilder seen = new StringBuilder();
    text.codePoints()
        .forEach(
            point -> {
              if (isHidden(point)) {
                seen.append(String.format(Locale.ROOT, "\\u%04x", point));
              } else {
                seen.appendCodePoint(point);
              }
            });
    return seen.toString();
  }

  private static boolean isHidden(int point) {
    return Character.isISOControl(point) || Character.getType(point) == Character.SURROGATE;
  }

  public Code code() {
    return code;
  }

  public Reason reason() {
    return code.reason();
  }

  public String subject() {
    return subject;
  }

  public String subjectId() {
    return subjectId;
  }

  /** The recorded failure; null unless created by {@link #recorded}. */
  public @Nullable Failure failure() {
    return failure;
  }
}
