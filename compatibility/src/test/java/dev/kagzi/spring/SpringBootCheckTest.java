package dev.kagzi.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;

/** The starter with the Spring Boot that it is not compiled for. */
@ExtendWith(OutputCaptureExtension.class)
@Tag("starter")
class SpringBootCheckTest {
  private static final boolean BOOT_3 = SpringBootVersion.getVersion().startsWith("3.");

  @Configuration(proxyBeanMethods = false)
  static class Application {}

  private static SpringApplication application() {
    SpringApplication application = new SpringApplication(Application.class);
    application.setWebApplicationType(WebApplicationType.NONE);
    return application;
  }

  @Test
  void a_start_with_the_starter_of_another_spring_boot_fails_and_names_the_right_one(
      CapturedOutput output) {
    SpringApplication application = application();
    application.addInitializers(new SpringBootCheck(BOOT_3 ? "4.1.1" : "3.5.16"));

    assertThatThrownBy(application::run).isInstanceOf(WrongStarterException.class);

    String has = BOOT_3 ? "kagzi-spring-boot-3-starter" : "kagzi-spring-boot-starter";
    String needs = BOOT_3 ? "kagzi-spring-boot-starter" : "kagzi-spring-boot-3-starter";
    assertThat(output)
        .contains("APPLICATION FAILED TO START")
        .contains(
            "Replace the dependency dev.kagzi:%s by dev.kagzi:%s.".formatted(has, needs));
  }

  @Test
  void every_application_is_checked_and_this_one_has_the_right_starter() {
    SpringApplication application = application();

    assertThat(application.getInitializers()).hasAtLeastOneElementOfType(SpringBootCheck.class);
    application.run().close();
  }

  @Test
  void a_later_spring_boot_without_a_starter_of_its_own_is_not_refused() {
    SpringApplication application = application();
    application.addInitializers(new SpringBootCheck(BOOT_3 ? "3.9.0" : "5.0.0"));

    application.run().close();
  }
}
