package dev.kagzi.compatibility;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.embedded.EmbeddedServer;
import dev.kagzi.postgres.SharedPostgres;
import dev.kagzi.spring.KagziAutoConfiguration;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** What an application prints that a server with a token refuses. */
@ExtendWith(OutputCaptureExtension.class)
@Tag("starter")
class TokenTest {
  private static final String TOKEN = "the-token-of-the-server";
  private static final String WRONG = "another-token";

  private static EmbeddedServer server;

  @Configuration(proxyBeanMethods = false)
  @ImportAutoConfiguration(KagziAutoConfiguration.class)
  static class Application {}

  @BeforeAll
  static void start() {
    server =
        EmbeddedServer.builder()
            .option("db-url", SharedPostgres.server().jdbcUrl(SharedPostgres.createDatabase()))
            .option("db-user", SharedPostgres.server().user())
            .option("db-password", SharedPostgres.server().password())
            .option("port", "0")
            .option("token", TOKEN)
            .unsafeDatabase()
            .withoutHttp()
            .start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static ConfigurableApplicationContext run(Map<String, Object> properties) {
    SpringApplication application = new SpringApplication(Application.class);
    application.setWebApplicationType(WebApplicationType.NONE);
    Map<String, Object> all = new HashMap<>(properties);
    all.put("kagzi.address", server.address());
    application.setDefaultProperties(all);
    return application.run();
  }

  private static void isRefused(
      Map<String, Object> properties, CapturedOutput output, String reason) {
    assertThatThrownBy(() -> run(properties)).isInstanceOf(RuntimeException.class);
    assertThat(output)
        .contains("APPLICATION FAILED TO START", "Description:", "Action:")
        .contains("kagzi.address: " + server.address(), reason)
        .contains("Set kagzi.token to the token that the server was started with")
        .doesNotContain(WRONG, TOKEN);
  }

  @Test
  void a_start_without_the_token_names_the_property(CapturedOutput output) {
    isRefused(Map.of(), output, "neither kagzi.token nor kagzi.token-file is set");
  }

  @Test
  void a_start_with_another_token_does_not_print_it(CapturedOutput output) {
    isRefused(
        Map.of("kagzi.token", WRONG),
        output,
        "kagzi.token is set, but is not the token of this server");
  }

  @Test
  void a_start_with_another_token_in_a_file_names_the_file(
      @TempDir Path folder, CapturedOutput output) throws Exception {
    Path file = Files.writeString(folder.resolve("token"), WRONG + "\n");

    isRefused(
        Map.of("kagzi.token-file", file.toString()),
        output,
        "the first line of kagzi.token-file (" + file + ") is not the token of this server");
  }

  @Test
  void a_start_with_the_token_succeeds() {
    try (ConfigurableApplicationContext context = run(Map.of("kagzi.token", TOKEN))) {
      assertThat(context.isRunning()).isTrue();
    }
  }
}
