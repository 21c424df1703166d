package dev.kagzi.sdk;

import org.jspecify.annotations.Nullable;

/** Thrown when a run does not exist in the client's namespace. */
public final class RunNotFoundException extends KagziException {
  private final String id;

  /** Called by the SDK. */
  public RunNotFoundException(String id, String namespace, @Nullable Throwable cause) {
    super(
        ClientCode.NOT_FOUND,
        "run %s: not found in namespace %s (is it in another namespace, or deleted by retention?)"
            .formatted(id, namespace),
        cause);
    this.id = id;
  }

  /** Returns the id that was not found: a run id or a workflow id. */
  public String id() {
    return id;
  }
}
