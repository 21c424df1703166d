package dev.kagzi.spring.test;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.spring.KagziConnector;
import dev.kagzi.testkit.KagziEnv;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;

/**
 * Connects the client to an environment of the test kit, instead of the server in the properties.
 */
@TestConfiguration(proxyBeanMethods = false)
class KagziTestConfiguration {

  @Bean
  EnvConnector kagziTestConnector() {
    return new EnvConnector();
  }

  /**
   * Depends on the client, because the connector starts the environment when it connects the
   * client.
   */
  @Bean(destroyMethod = "close")
  KagziEnv kagziEnv(Kagzi kagzi, EnvConnector connector) {
    return connector.env();
  }

  /** Starts an environment whose client is that of the application. Called once, by Spring. */
  static final class EnvConnector implements KagziConnector {
    private @Nullable KagziEnv env;

    @Override
    public Kagzi connect(Kagzi.Builder builder) {
      KagziEnv started = KagziEnv.start("spring-test", builder);
      env = started;
      return started.kagzi();
    }

    KagziEnv env() {
      return Objects.requireNonNull(env, "env");
    }
  }
}
