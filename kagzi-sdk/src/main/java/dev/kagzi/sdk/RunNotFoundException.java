package dev.kagzi.sdk;

/** There is no such run in the client's namespace. */
public final class RunNotFoundException extends KagziException {
  private final String id;

  public RunNotFoundException(String id, String namespace) {
    super(
        "run %s: not found in namespace %s; is it another namespace's, or gone by retention?"
            .formatted(id, namespace),
        null);
    this.id = id;
  }

  /** What was looked for: a run id or a workflow id. */
  public String id() {
    return id;
  }

  @Override
  public String code() {
    return "run-not-found";
  }
}
