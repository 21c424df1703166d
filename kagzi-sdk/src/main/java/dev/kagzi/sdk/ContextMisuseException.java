package dev.kagzi.sdk;

/**
 * A workflow's context was used where it has no meaning: in a foreign thread, inside a step, or
 * after the run had ended.
 */
public final class ContextMisuseException extends KagziException {
  public ContextMisuseException(String message) {
    super(ClientCode.CONTEXT_MISUSE, message, null);
  }
}
