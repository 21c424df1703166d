package dev.kagzi.sdk;

/** Thrown when a run does not exist in the client's namespace. */
public final class RunNotFoundException extends KagziException {
  private final String id;

  public RunNotFoundException(String id, String namespace) {
    super(
        ClientCode.NOT_FOUND,
        "run %s: not found in namespace %s (is it in another namespace, or deleted by retention?)"
            .formatted(id, namespace),
        null);
    this.id = id;
  }

  /** Returns the id that was not found: a run id or a workflow id. */
  public String id() {
    return id;
  }
}
