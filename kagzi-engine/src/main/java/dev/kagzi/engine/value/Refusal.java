package dev.kagzi.engine.value;

import java.util.Locale;

/**
 * A request that cannot be granted, with the reason in words for the caller: what was found, what
 * was expected. Nothing was stored.
 */
public final class Refusal extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Why, in the classes that a caller can act on. */
  public enum Reason {
    /** The request itself is wrong; sent again it will be refused again. */
    INVALID_ARGUMENT,
    NOT_FOUND,
    ALREADY_EXISTS,
    /** Not in this state of things. */
    FAILED_PRECONDITION,
    /** The claim is held by somebody else, or by nobody. */
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

  private final Reason reason;
  private final String subject;
  private final String subjectId;

  private Refusal(Reason reason, String subject, String subjectId, String message) {
    super(message);
    this.reason = reason;
    this.subject = subject;
    this.subjectId = subjectId;
  }

  /** {@code subject} is the kind of thing that the refusal is about ("run", "worker"). */
  public static Refusal of(Reason reason, String subject, String subjectId, String message) {
    return new Refusal(reason, subject, subjectId, message);
  }

  /** An argument that is not as it must be. */
  public static Refusal invalid(String field, Object found, String expected) {
    return new Refusal(
        Reason.INVALID_ARGUMENT,
        field,
        "",
        String.format(Locale.ROOT, "%s: %s (expected: %s)", field, shorten(found), expected));
  }

  /** Something that is not there. */
  public static Refusal notFound(String subject, Object id) {
    return new Refusal(
        Reason.NOT_FOUND, subject, shorten(id), subject + " not found: " + shorten(id));
  }

  /** Long values are cut: a message is for reading. */
  public static String shorten(Object value) {
    String text = String.valueOf(value);
    return text.length() <= 100
        ? text
        : text.substring(0, 100) + "… (" + text.length() + " characters)";
  }

  public Reason reason() {
    return reason;
  }

  public String subject() {
    return subject;
  }

  public String subjectId() {
    return subjectId;
  }
}
