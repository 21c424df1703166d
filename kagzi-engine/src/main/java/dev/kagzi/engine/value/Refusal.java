package dev.kagzi.engine.value;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A request that cannot be granted, with the reason in words for the caller: what was found, what
 * was expected. Nothing was stored.
 */
public final class Refusal extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private static final int SHOWN_MAX = 100;

  /** Why, in the classes that a caller can act on. */
  public enum Reason {
    /** The request itself is wrong; sent again it will be refused again. */
    INVALID_ARGUMENT,
    /** The caller did not show what it has to show. */
    UNAUTHENTICATED,
    NOT_FOUND,
    ALREADY_EXISTS,
    /** Not in this state of things. */
    FAILED_PRECONDITION,
    /** The claim was lost on the way, or the step has failed for good. */
    ABORTED,
    /** A bound is reached; later it may go. */
    RESOURCE_EXHAUSTED,
    /** The database is away; later it will go. */
    UNAVAILABLE,
    /** The field or call belongs to a feature that this server does not have. */
    UNIMPLEMENTED,
    /** A fault of the engine. */
    INTERNAL
  }

  /**
   * What exactly, by a name that stays: it travels to the caller, and {@code docs/errors.md} says
   * of each what it means and what to do.
   */
  public enum Code {
    INVALID_ARGUMENT(Reason.INVALID_ARGUMENT),
    PARENT_NOT_FOUND(Reason.INVALID_ARGUMENT),
    UNAUTHENTICATED(Reason.UNAUTHENTICATED),
    NOT_FOUND(Reason.NOT_FOUND),
    ALREADY_EXISTS(Reason.ALREADY_EXISTS),
    ID_IN_USE(Reason.ALREADY_EXISTS),
    RUN_ID_IN_USE(Reason.ALREADY_EXISTS),
    FAILED_PRECONDITION(Reason.FAILED_PRECONDITION),
    NAMESPACE_DISABLED(Reason.FAILED_PRECONDITION),
    CLAIM_LOST(Reason.FAILED_PRECONDITION),
    STEP_ENDED(Reason.FAILED_PRECONDITION),
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

  /** {@code subject} is the kind of thing that the refusal is about ("run", "worker"). */
  public static Refusal of(Code code, String subject, String subjectId, String message) {
    return new Refusal(code, subject, subjectId, message);
  }

  /** The same, for what has no code of its own: each reason is one, too. */
  public static Refusal of(Reason reason, String subject, String subjectId, String message) {
    return new Refusal(Code.valueOf(reason.name()), subject, subjectId, message);
  }

  /** A failure is recorded where the caller asked for a result; it is given to the caller. */
  public static Refusal recorded(
      Code code, String subject, String subjectId, String message, @Nullable Failure failure) {
    return new Refusal(code, subject, subjectId, message, failure);
  }

  /** An argument that is not as it must be. */
  public static Refusal invalid(String field, Object found, String expected) {
    return new Refusal(
        Code.INVALID_ARGUMENT,
        field,
        "",
        String.format(Locale.ROOT, "%s: %s (expected: %s)", field, shorten(found), expected));
  }

  /** Something that is not there. */
  public static Refusal notFound(String subject, Object id) {
    return new Refusal(
        Code.NOT_FOUND, subject, shorten(id), subject + " not found: " + shorten(id));
  }

  /**
   * Long values are cut: a message is for reading. What cannot be seen is spelled out: it travels
   * back over a wire that could not carry all of it, into logs and terminals.
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

  /** The recorded failure that the caller is given; null for most. */
  public @Nullable Failure failure() {
    return failure;
  }
}
