package dev.kagzi.sdk;

/**
 * A workflow's context was used where it has no meaning: in a foreign thread, inside a step, in a
 * branch that has its own, in another run, or after the run had ended.
 */
public final class ContextMisuseException extends KagziException {
  private final Misuse misuse;

  /** Made by the SDK. */
  public ContextMisuseException(Misuse misuse, String message) {
    super(misuse.code, message, null);
    this.misuse = misuse;
  }

  /** How the context was used. */
  public enum Misuse {
    /** In a thread that executes no workflow. */
    FOREIGN_THREAD(ClientCode.CONTEXT_FOREIGN_THREAD),
    /** In the code of a step. */
    INSIDE_STEP(ClientCode.CONTEXT_INSIDE_STEP),
    /** In a branch, or a part of the workflow, that has a context of its own. */
    OTHER_BRANCH(ClientCode.CONTEXT_OTHER_BRANCH),
    /** In the code of another run. */
    OTHER_RUN(ClientCode.CONTEXT_OTHER_RUN),
    /** After the workflow had returned. */
    AFTER_END(ClientCode.CONTEXT_AFTER_END);

    private final ClientCode code;

    Misuse(ClientCode code) {
      this.code = code;
    }
  }

  public Misuse misuse() {
    return misuse;
  }
}
