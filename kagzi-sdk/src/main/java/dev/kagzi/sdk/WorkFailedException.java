package dev.kagzi.sdk;

/**
 * Something that the workflow asked for has failed for good: a step, a child, or one of several
 * branches. This is the exception to catch in order to compensate, whatever failed:
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
 * <p>The failure is recorded: a replay throws it again, with the same class, message and {@link
 * #failure()}. Uncaught it fails the run.
 *
 * <p>It has no cause. What the step, the child or the branch threw is gone when the code is
 * replayed, and the code must take the same way then. The record has it all: {@link #failure()},
 * {@link Failure#isA}.
 */
public abstract sealed class WorkFailedException extends KagziException
    permits BranchFailedException, ChildFailedException, StepFailedException {
  private final String step;
  private final Failure failure;

  WorkFailedException(ClientCode code, String message, String step, Failure failure) {
    super(code, message, null);
    this.step = step;
    this.failure = failure;
  }

  /**
   * The step that failed, by its name with its occurrence from the second on: {@code charge#2}. Of
   * a child, the step that it was; of branches, the name that they have together.
   */
  public final String step() {
    return step;
  }

  /** What is recorded of the failure. */
  public final Failure failure() {
    return failure;
  }

  /** What sort of error it was. */
  public final ErrorKind kind() {
    return failure.kind();
  }
}
