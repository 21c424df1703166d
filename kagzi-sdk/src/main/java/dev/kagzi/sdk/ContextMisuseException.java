package dev.kagzi.sdk;

/**
 * A workflow's context was used where it has no meaning: in a foreign thread, inside a step, in a
 * branch that has its own, in another run, or after the run had ended.
 */
public final class ContextMisuseException extends KagziException {
  private final Misuse misuse;

  /** Made by the SDK. */
  public ContextMisuseException(Misuse misuse, String message) {
    super(message, null);
    this.misuse = misuse;
  }

  /** How the context was used. */
  public enum Misuse {
    /** In a thread that executes no workflow. */
    FOREIGN_THREAD("foreign-thread"),
    /** In the code of a step. */
    INSIDE_STEP("inside-step"),
    /** In a branch, or a part of the workflow, that has a context of its own. */
    OTHER_BRANCH("other-branch"),
    /** In the code of another run. */
    OTHER_RUN("other-run"),
    /** After the workflow had returned. */
    AFTER_END("after-end");

    private final String code;

    Misuse(String code) {
      this.code = code;
    }
  }

  public Misuse misuse() {
    return misuse;
  }

  @Override
  public String code() {
    return "context-" + misuse.code;
  }
}
