package dev.kagzi.compatibility;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.embedded.EmbeddedServer;
import dev.kagzi.postgres.EmbeddedPostgres;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RequestRefusedException;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.spring.KagziAutoConfiguration;
import dev.kagzi.spring.WorkflowDefinition;
import dev.kagzi.spring.embedded.KagziEmbeddedAutoConfiguration;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** A server inside the application. */
@Tag("starter")
class EmbeddedTest {
  private static final WorkflowType<String, String> GREET =
      WorkflowType.of("greet", String.class, String.class).queue("greetings");

  @Configuration(proxyBeanMethods = false)
  static class Workflows {
    @Bean
    WorkflowDefinition<String, String> greet() {
      return WorkflowDefinition.of(GREET, (ctx, name) -> "hello " + name);
    }
  }

  private final ApplicationContextRunner contexts =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  KagziEmbeddedAutoConfiguration.class, KagziAutoConfiguration.class))
          .withUserConfiguration(Workflows.class);

  @Test
  void a_postgres_for_development_keeps_the_runs(@TempDir Path folder) {
    ApplicationContextRunner dev =
        contexts.withPropertyValues(
            "kagzi.dev.enabled=true", "kagzi.dev.data-dir=" + folder.resolve("data"));
    dev.run(
        context ->
            assertThat(
                    context
                        .getBean(Kagzi.class)
                        .workflow(GREET)
                        .id("first")
                        .start("Ada")
                        .result(Duration.ofSeconds(30)))
                .isEqualTo("hello Ada"));

    dev.run(
        context ->
            assertThat(context.getBean(Kagzi.class).getByWorkflowId("first").status())
                .isEqualTo(RunStatus.COMPLETED));
  }

  @Test
  void the_server_uses_the_database_of_the_data_source_and_requires_its_token() {
    try (EmbeddedPostgres postgres = EmbeddedPostgres.builder().ephemeral().start()) {
      postgres.createDatabase("shop");
      contexts
          .withPropertyValues(
              "spring.datasource.url=" + postgres.jdbcUrl("shop"),
              "spring.datasource.username=" + postgres.user(),
              "spring.datasource.password=" + postgres.password(),
              "kagzi.namespace=shop",
              "kagzi.embedded.options.short-wait=0s")
          .run(
              context -> {
                assertThat(
                        context
                            .getBean(Kagzi.class)
                            .workflow(GREET)
                            .start("Bob")
                            .result(Duration.ofSeconds(30)))
                    .isEqualTo("hello Bob");
                try (Kagzi stranger =
                    Kagzi.connect(context.getBean(EmbeddedServer.class).address())) {
                  assertThatThrownBy(stranger::ping)
                      .isInstanceOf(RequestRefusedException.class);
                }
              });
    }
  }

  @Test
  void a_database_that_is_no_postgres_is_refused() {
    contexts
        .withPropertyValues("spring.datasource.url=jdbc:h2:mem:shop")
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .hasMessageContaining("jdbc:h2:mem:shop")
                    .hasMessageContaining("kagzi.dev.enabled=true"));
  }

  @Test
  void without_a_server_inside_the_client_connects_to_its_address() {
    contexts
        .withPropertyValues("kagzi.embedded.enabled=false", "kagzi.start-timeout=0")
        .run(
            context ->
                assertThat(context).hasNotFailed().doesNotHaveBean(EmbeddedServer.class));
  }
}
