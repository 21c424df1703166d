package dev.kagzi.spring.embedded;

import dev.kagzi.embedded.EmbeddedServer;
import dev.kagzi.postgres.EmbeddedPostgres;
import dev.kagzi.spring.KagziAutoConfiguration;
import dev.kagzi.spring.KagziConnector;
import dev.kagzi.spring.KagziProperties;
import java.nio.file.Path;
import java.util.UUID;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/**
 * Starts a server inside the application and connects the client to it. Several instances of an
 * application are several servers of one database, which is supported.
 *
 * <p>The server listens on 127.0.0.1 and requires a token: {@code kagzi.token}, or one that is new
 * at each start.
 */
@AutoConfiguration(before = KagziAutoConfiguration.class)
@ConditionalOnProperty(name = "kagzi.embedded.enabled", matchIfMissing = true)
@ConditionalOnMissingBean(KagziConnector.class)
@EnableConfigurationProperties({
  KagziProperties.class,
  KagziEmbeddedProperties.class,
  KagziDevProperties.class
})
public class KagziEmbeddedAutoConfiguration {
  private final String generatedToken = UUID.randomUUID().toString();

  /** Called by Spring. */
  public KagziEmbeddedAutoConfiguration() {}

  @Bean(destroyMethod = "close")
  @ConditionalOnProperty("kagzi.dev.enabled")
  EmbeddedPostgres kagziPostgres(KagziDevProperties properties, Environment environment) {
    Path chosen = properties.dataDir();
    String application = environment.getProperty("spring.application.name", "spring");
    return EmbeddedPostgres.builder()
        .dataDir(chosen != null ? chosen : EmbeddedPostgres.defaultDataDir(application))
        .start();
  }

  @Bean(destroyMethod = "close")
  EmbeddedServer kagziServer(
      KagziEmbeddedProperties properties,
      KagziProperties client,
      Environment environment,
      ObjectProvider<EmbeddedPostgres> postgres) {
    EmbeddedPostgres started = postgres.getIfAvailable();
    ServerDatabase database =
        started == null ? ServerDatabase.of(properties, environment) : ServerDatabase.of(started);
    EmbeddedServer.Builder server =
        EmbeddedServer.builder()
            .option("db-url", database.url())
            .option("db-user", database.user())
            .option("db-password", database.password())
            .option("token", token(client))
            .option("port", Integer.toString(properties.port()))
            .option("auto-create-namespaces", "true");
    Integer httpPort = properties.httpPort();
    if (httpPort == null) {
      server.withoutHttp();
    } else {
      server.option("http-port", httpPort.toString());
    }
    properties.options().forEach(server::option);
    return server.start();
  }

  private String token(KagziProperties client) {
    String token = client.token();
    return token == null ? generatedToken : token;
  }

  @Bean
  KagziConnector kagziEmbeddedConnector(EmbeddedServer server, KagziProperties properties) {
    return builder ->
        builder
            .address(server.address())
            .namespace(properties.namespace())
            .token(token(properties))
            .connect();
  }
}
