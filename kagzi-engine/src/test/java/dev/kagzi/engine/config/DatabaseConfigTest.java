package dev.kagzi.engine.config;

import static org.assertj.core.api.Assertions.assertThat;

import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@NullMarked
class DatabaseConfigTest {

  @ParameterizedTest
  @CsvSource({
    "postgres://me:pw@db/k, jdbc:postgresql://db/k, me, pw",
    "postgresql://me:p%40w%2F+@my_db:5433/k?sslmode=require,"
        + " jdbc:postgresql://my_db:5433/k?sslmode=require, me, p@w/+",
    "postgres://[::1]:5433/k, jdbc:postgresql://[::1]:5433/k, usual, secret",
    "jdbc:postgresql://me:pw@db/k?ssl=true, jdbc:postgresql://db/k?ssl=true, me, pw",
    "jdbc:postgresql://db/k?user=x@y, jdbc:postgresql://db/k?user=x@y, usual, secret",
    "jdbc:postgresql://db/k?user=x, jdbc:postgresql://db/k?user=x, usual, secret",
  })
  void urls_of_both_kinds_are_read(String url, String jdbc, String user, String password) {
    DatabaseConfig config = DatabaseConfig.parse(url, "usual", "secret");

    assertThat(config.jdbcUrl()).isEqualTo(jdbc);
    assertThat(config.user()).isEqualTo(user);
    assertThat(config.password()).isEqualTo(password);
  }

  @ParameterizedTest
  @CsvSource({
    "postgres://me:hush@db/k, postgres://me:(hidden)@db/k",
    "postgres://me:hu@sh/x@db/k, postgres://me:(hidden)@db/k",
    "postgres://me@db/k, postgres://me@db/k",
    "jdbc:postgresql://db:5432/k?user=me&password=hush&ssl=true,"
        + " jdbc:postgresql://db:5432/k?user=me&password=(hidden)&ssl=true",
    "jdbc:postgresql://db/k?sslPassword=hush, jdbc:postgresql://db/k?sslPassword=(hidden)",
  })
  void a_masked_url_has_no_password(String url, String shown) {
    assertThat(DatabaseConfig.masked(url)).isEqualTo(shown);
  }

  /**
   * Otherwise the driver would use a standby that is listed first, or to which the only host name
   * resolves.
   */
  @ParameterizedTest
  @CsvSource({
    "jdbc:postgresql://db/k, jdbc:postgresql://db/k?targetServerType=primary",
    "jdbc:postgresql://db/k?ssl=true, jdbc:postgresql://db/k?ssl=true&targetServerType=primary",
    "jdbc:postgresql://db/k?targetServerType=any, jdbc:postgresql://db/k?targetServerType=any",
  })
  void the_driver_is_told_to_use_the_primary(String url, String expected) {
    assertThat(new DatabaseConfig(url, "", "").driverUrl()).isEqualTo(expected);
  }

  @Test
  void several_hosts_are_kept() {
    assertThat(DatabaseConfig.parse("postgres://me:hush@a:1,b:2/k", "", "").jdbcUrl())
        .isEqualTo("jdbc:postgresql://a:1,b:2/k");
  }

  @Test
  void the_text_of_a_configuration_has_no_password() {
    assertThat(DatabaseConfig.parse("postgres://me:hush@db/k?password=hush", "", "").toString())
        .doesNotContain("hush");
  }
}
