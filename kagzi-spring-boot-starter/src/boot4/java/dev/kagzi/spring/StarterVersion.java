package dev.kagzi.spring;

/** The Spring Boot that this starter is compiled for. */
final class StarterVersion {
  static final String ARTIFACT = "kagzi-spring-boot-starter";
  static final int BOOT_MAJOR = 4;

  private StarterVersion() {}
}
