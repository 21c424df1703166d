package dev.kagzi.compatibility;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.spring.KagziAutoConfiguration;
import dev.kagzi.spring.KagziOutbox;
import dev.kagzi.spring.KagziTransactionsAutoConfiguration;
import dev.kagzi.spring.SpringTransactions;
import java.util.HashMap;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabase;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;
import org.springframework.transaction.PlatformTransactionManager;

/** What an application prints that lacks a property, a data source or a table. */
@ExtendWith(OutputCaptureExtension.class)
@Tag("starter")
class StartFailuresTest {
  static class UsesOutbox {
    UsesOutbox(KagziOutbox outbox) {}
  }

  static class UsesTransactions {
    UsesTransactions(SpringTransactions transactions) {}
  }

  @Configuration(proxyBeanMethods = false)
  @ImportAutoConfiguration({
    KagziAutoConfiguration.class,
    KagziTransactionsAutoConfiguration.class
  })
  static class WithoutDatabase {}

  /** A database without tables. */
  @Configuration(proxyBeanMethods = false)
  @Import(WithoutDatabase.class)
  static class WithDatabase {
    @Bean
    EmbeddedDatabase dataSource() {
      return new EmbeddedDatabaseBuilder()
          .setType(EmbeddedDatabaseType.H2)
          .generateUniqueName(true)
          .build();
    }

    @Bean
    PlatformTransactionManager transactionManager(DataSource dataSource) {
      return new DataSourceTransactionManager(dataSource);
    }
  }

  private static SpringApplication application(
      Map<String, Object> properties, Class<?>... sources) {
    SpringApplication application = new SpringApplication(sources);
    application.setWebApplicationType(WebApplicationType.NONE);
    Map<String, Object> all = new HashMap<>(properties);
    all.put("kagzi.address", "localhost:1");
    all.put("kagzi.start-timeout", "0");
    application.setDefaultProperties(all);
    return application;
  }

  private static void startFails(SpringApplication application) {
    assertThatThrownBy(application::run).isInstanceOf(RuntimeException.class);
  }

  @Test
  void an_outbox_that_is_not_enabled_is_explained_with_its_property(CapturedOutput output) {
    startFails(application(Map.of(), WithDatabase.class, UsesOutbox.class));

    assertThat(output)
        .contains("APPLICATION FAILED TO START", "Parameter 0 of constructor in")
        .contains("required a bean of type 'dev.kagzi.spring.KagziOutbox'")
        .contains("Set kagzi.outbox.enabled=true.")
        .doesNotContain("Consider defining a bean");
  }

  @Test
  void an_outbox_without_a_data_source_is_explained(CapturedOutput output) {
    startFails(
        application(
            Map.of("kagzi.outbox.enabled", "true"), WithoutDatabase.class, UsesOutbox.class));

    assertThat(output)
        .contains("APPLICATION FAILED TO START", "Add spring-boot-starter-jdbc")
        .doesNotContain("Consider defining a bean");
  }

  @Test
  void transactions_without_a_data_source_are_explained(CapturedOutput output) {
    startFails(application(Map.of(), WithoutDatabase.class, UsesTransactions.class));

    assertThat(output)
        .contains("APPLICATION FAILED TO START", "dev.kagzi.spring.SpringTransactions")
        .contains("Add spring-boot-starter-jdbc")
        .doesNotContain("Consider defining a bean");
  }

  @Test
  void a_missing_table_of_the_outbox_is_explained_with_its_command(CapturedOutput output) {
    startFails(application(Map.of("kagzi.outbox.enabled", "true"), WithDatabase.class));

    assertThat(output)
        .contains("APPLICATION FAILED TO START", "kagzi_outbox cannot be read")
        .contains("\"kagzi sql outbox --dialect h2\"", "spring.sql.init.mode=always");
  }

  @Test
  void a_missing_table_of_steps_is_noticed_at_the_start(CapturedOutput output) {
    startFails(application(Map.of(), WithDatabase.class, UsesTransactions.class));

    assertThat(output)
        .contains("APPLICATION FAILED TO START", "kagzi_steps cannot be read")
        .contains("\"kagzi sql steps --dialect h2\"");
  }

  @Test
  void an_application_without_transactional_steps_needs_no_table() {
    application(Map.of(), WithDatabase.class).run().close();
  }
}
