package dev.kagzi.spring;

/** The Spring Boot that this starter is compiled for. */
final class StarterVersion {
  static final String ARTIFACT = "kagzi-spring-boot-3-starter";
  static final int BOOT_MAJOR = 3;

  private StarterVersion() {}
}
