package dev.kagzi.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.DriverManager;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The application's class path has the client's libraries, and none of the server's. */
@ExtendWith(KagziExtension.class)
class ClassPathTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "dev.kagzi.server.KagziServer",
        "dev.kagzi.engine.Engine",
        "org.flywaydb.core.Flyway",
        "com.zaxxer.hikari.HikariDataSource",
        "io.javalin.Javalin",
        "kotlin.Unit",
        "org.eclipse.jetty.server.Server",
        "io.opentelemetry.sdk.trace.SdkTracerProvider",
        "io.micrometer.prometheusmetrics.PrometheusMeterRegistry"
      })
  void libraries_of_the_server_are_not_visible(String type) {
    assertThatThrownBy(() -> Class.forName(type)).isInstanceOf(ClassNotFoundException.class);
  }

  @Test
  void the_server_runs_and_its_driver_stays_with_it(KagziEnv env) {
    assertThat(env.kagzi().ping(Duration.ofSeconds(10)).serverVersion()).isNotEmpty();
    assertThat(DriverManager.drivers().map(each -> each.getClass().getClassLoader()))
        .isSubsetOf(List.of(getClass().getClassLoader()));
  }
}
