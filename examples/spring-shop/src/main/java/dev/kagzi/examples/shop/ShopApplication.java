package dev.kagzi.examples.shop;

import dev.kagzi.postgres.EmbeddedPostgres;
import javax.sql.DataSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.context.annotation.Bean;

/** A shop: orders are workflows, and their rows are in the application's own tables. */
@SpringBootApplication
public class ShopApplication {
  public static void main(String[] args) {
    SpringApplication.run(ShopApplication.class, args);
  }

  /** While developing, the tables of the shop are in the PostgreSQL of the server inside. */
  @Bean
  @ConditionalOnProperty("kagzi.dev.enabled")
  DataSource dataSource(EmbeddedPostgres postgres) {
    postgres.createDatabaseIfAbsent("shop");
    return DataSourceBuilder.create()
        .url(postgres.jdbcUrl("shop"))
        .username(postgres.user())
        .password(postgres.password())
        .build();
  }
}
