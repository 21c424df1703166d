package dev.kagzi.spring.embedded;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties {@code kagzi.embedded.*}: the server inside the application.
 *
 * @param enabled Whether the application contains a server; without it, it connects to
 *     kagzi.address
 * @param dbUrl URL of its PostgreSQL; spring.datasource.url by default
 * @param dbUser User of its PostgreSQL; spring.datasource.username by default
 * @param dbPassword Password of its PostgreSQL; spring.datasource.password by default
 * @param port Port for gRPC on 127.0.0.1; 0 picks a free one
 * @param httpPort Port for HTTP on 127.0.0.1; 0 picks a free one, and by default there is none
 * @param options Further options of the server by their names, for example short-wait
 */
@ConfigurationProperties("kagzi.embedded")
public record KagziEmbeddedProperties(
    @DefaultValue("true") boolean enabled,
    @Nullable String dbUrl,
    @Nullable String dbUser,
    @Nullable String dbPassword,
    @DefaultValue("0") int port,
    @Nullable Integer httpPort,
    @DefaultValue Map<String, String> options) {

  public KagziEmbeddedProperties {
    options = Map.copyOf(options);
  }

  /** Without the password. */
  @Override
  public String toString() {
    return "KagziEmbeddedProperties[dbUrl=%s, port=%d]".formatted(dbUrl, port);
  }
}
