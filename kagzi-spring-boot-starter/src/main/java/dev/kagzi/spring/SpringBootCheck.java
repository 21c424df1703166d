package dev.kagzi.spring;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.SpringBootVersion;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Fails the start of an application that has the starter for another major version of Spring Boot.
 * Without this check the application would start without some parts, for example without the health
 * indicator, because conditions on missing classes turn them off.
 */
final class SpringBootCheck
    implements ApplicationContextInitializer<ConfigurableApplicationContext> {
  private final @Nullable String version;

  /** Called by Spring. */
  SpringBootCheck() {
    this(SpringBootVersion.getVersion());
  }

  SpringBootCheck(@Nullable String version) {
    this.version = version;
  }

  @Override
  public void initialize(ConfigurableApplicationContext context) {
    if (version == null || version.startsWith(StarterVersion.BOOT_MAJOR + ".")) {
      return;
    }
    String artifact =
        version.startsWith("3.") ? "kagzi-spring-boot-3-starter" : "kagzi-spring-boot-starter";
    if (artifact.equals(StarterVersion.ARTIFACT)) {
      // A later Spring Boot, for which there is no other starter.
      return;
    }
    throw new WrongStarterException(
        artifact,
        "Spring Boot %s with %s, which is for Spring Boot %d (expected: %s)"
            .formatted(version, StarterVersion.ARTIFACT, StarterVersion.BOOT_MAJOR, artifact));
  }
}
