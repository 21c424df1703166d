package dev.kagzi.sdk;

/**
 * Thrown when a {@link WorkflowContext} is used where it is not valid: in a foreign thread, inside
 * a step, in another branch, in another run, or after the workflow's code returned; and when a run
 * cannot continue as new.
 */
public final class ContextMisuseException extends KagziException {
  private final Misuse misuse;

  /** Called by the SDK. */
  public ContextMisuseException(Misuse misuse, String message) {
    super(misuse.code, message, null);
    this.misuse = misuse;
  }

  /** Where the context was used. */
  public enum Misuse {
    /** In a thread that does not execute a workflow. */
    FOREIGN_THREAD(ClientCode.CONTEXT_FOREIGN_THREAD),
    /** Inside the code of a step. */
    INSIDE_STEP(ClientCode.CONTEXT_INSIDE_STEP),
    /**
     * A branch used the context of the surrounding code, or the surrounding code used that of a
     * branch.
     */
    OTHER_BRANCH(ClientCode.CONTEXT_OTHER_BRANCH),
    /** In the code of another run. */
    OTHER_RUN(ClientCode.CONTEXT_OTHER_RUN),
    /** After the workflow's code returned. */
    AFTER_END(ClientCode.CONTEXT_AFTER_END),
    /**
     * The code called {@link WorkflowContext#continueAsNew(Object)} in a branch, an undo or a
     * clean-up, or while a child was open or a callback had no answer.
     */
    OPEN_WORK(ClientCode.CONTEXT_OPEN_WORK);

    private final ClientCode code;

    Misuse(ClientCode code) {
      this.code = code;
    }
  }

  /** Returns where the context was used. */
  public Misuse misuse() {
    return misuse;
  }
}
