package dev.kagzi.sdk.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.postgres.SharedPostgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import org.junit.jupiter.api.Test;

/** Checks that {@code -Dkagzi.postgres=14} selects the PostgreSQL of these tests. */
class PostgresVersionTest {
  @Test
  void the_tests_run_on_the_selected_postgres() throws Exception {
    String asked = System.getProperty("kagzi.postgres", "");
    String name = SharedPostgres.createDatabase();

    try (Connection connection = SharedPostgres.server().connect(name);
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SHOW server_version_num")) {
      row.next();
      int major = row.getInt(1) / 10_000;

      assertThat(major).isGreaterThanOrEqualTo(14);
      assertThat(asked.isEmpty() || asked.equals(String.valueOf(major)))
          .as("PostgreSQL %d, asked for: %s", major, asked)
          .isTrue();
    }
  }
}
