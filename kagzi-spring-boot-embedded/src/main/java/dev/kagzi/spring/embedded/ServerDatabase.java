package dev.kagzi.spring.embedded;

import dev.kagzi.postgres.EmbeddedPostgres;
import org.jspecify.annotations.Nullable;
import org.springframework.core.env.Environment;

/** The database of the server inside the application. */
record ServerDatabase(String url, String user, String password) {
  private static final String DATABASE = "kagzi";

  static ServerDatabase of(EmbeddedPostgres postgres) {
    postgres.createDatabaseIfAbsent(DATABASE);
    return new ServerDatabase(postgres.jdbcUrl(DATABASE), postgres.user(), postgres.password());
  }

  /** The server's own properties, else those of the application's DataSource. */
  static ServerDatabase of(KagziEmbeddedProperties properties, Environment environment) {
    String url = first(properties.dbUrl(), environment.getProperty("spring.datasource.url"));
    if (!url.startsWith("jdbc:postgresql:") && !url.startsWith("postgres")) {
      throw new IllegalStateException(
          "database of the Kagzi server: %s (expected: spring.datasource.url or"
                  .formatted(url.isEmpty() ? "none" : url)
              + " kagzi.embedded.db-url with jdbc:postgresql://…, or kagzi.dev.enabled=true for an"
              + " embedded PostgreSQL)");
    }
    return new ServerDatabase(
        url,
        first(properties.dbUser(), environment.getProperty("spring.datasource.username")),
        first(properties.dbPassword(), environment.getProperty("spring.datasource.password")));
  }

  private static String first(@Nullable String own, @Nullable String ofDataSource) {
    if (own != null) {
      return own;
    }
    return ofDataSource == null ? "" : ofDataSource;
  }

  /** Without the password. */
  @Override
  public String toString() {
    return url;
  }
}
