package dev.kagzi.spring;

/** The application has the starter for another major version of Spring Boot. */
final class WrongStarterException extends IllegalStateException {
  private static final long serialVersionUID = 1;

  private final String artifact;

  WrongStarterException(String artifact, String message) {
    super(message);
    this.artifact = artifact;
  }

  /** The artefact that the application needs instead. */
  String artifact() {
    return artifact;
  }
}
