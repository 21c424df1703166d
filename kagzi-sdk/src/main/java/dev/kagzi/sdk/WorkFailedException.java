package dev.kagzi.sdk;

/**
 * Thrown to workflow code when a step, a child, a callback, a branch or a compensation failed
 * permanently. Catch it to compensate, for example with a {@link Saga}:
 *
 * <pre>{@code
 * try {
 *   ctx.step("book-flight", String.class, () -> flights.book(trip));
 *   ctx.child(BOOK_HOTEL).run("book-hotel", trip);
 * } catch (WorkFailedException failed) {
 *   ctx.step("cancel-all", () -> bookings.cancel(trip));
 *   throw failed;
 * }
 * }</pre>
 *
 * <p>The failure is recorded: a replay throws it again with the same class, message and {@link
 * #failure()}. If the code does not catch it, the run fails.
 *
 * <p>It has no cause, because the original exception does not exist in a replay and code that
 * depends on it would not be deterministic. Use {@link #failure()} and {@link Failure#isA} instead.
 */
public abstract sealed class WorkFailedException extends KagziException
    permits BranchFailedException,
        CallbackFailedException,
        ChildFailedException,
        CompensationFailedException,
        StepFailedException {
  private final String step;
  private final Failure failure;

  WorkFailedException(ClientCode code, String message, String step, Failure failure) {
    super(code, message, null);
    this.step = step;
    this.failure = failure;
  }

  /**
   * Returns the key of the failed step with its occurrence: {@code charge#2}. For a child it is the
   * step that represents it; for branches the key of the {@code parallel} or {@code race} call.
   */
  public final String step() {
    return step;
  }

  /** Returns the recorded error. */
  public final Failure failure() {
    return failure;
  }

  /** Returns the category of the error. */
  public final ErrorKind kind() {
    return failure.kind();
  }
}
