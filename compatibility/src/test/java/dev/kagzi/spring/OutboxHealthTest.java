package dev.kagzi.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.jdbc.OutboxTable;
import dev.kagzi.testkit.KagziEnv;
import dev.kagzi.testkit.KagziExtension;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabase;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;

/** What health shows about the outbox. */
@ExtendWith(KagziExtension.class)
@Tag("starter")
class OutboxHealthTest {
  private static final Duration SOON = Duration.ofSeconds(20);

  private static EmbeddedDatabase database() {
    EmbeddedDatabase database =
        new EmbeddedDatabaseBuilder()
            .setType(EmbeddedDatabaseType.H2)
            .generateUniqueName(true)
            .build();
    try {
      OutboxTable.in(database).create();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    return database;
  }

  @Test
  void an_application_whose_outbox_cannot_be_read_is_down_until_it_can(KagziEnv env) {
    new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(
                KagziAutoConfiguration.class, KagziTransactionsAutoConfiguration.class))
        .withPropertyValues(
            "kagzi.address=" + env.address(),
            "kagzi.namespace=" + env.namespace(),
            "kagzi.outbox.enabled=true")
        .withBean(EmbeddedDatabase.class, OutboxHealthTest::database)
        .run(
            context -> {
              Kagzi kagzi = context.getBean(Kagzi.class);
              KagziWorkers workers = context.getBean(KagziWorkers.class);
              DataSource dataSource = context.getBean(DataSource.class);
              JdbcTemplate jdbc = new JdbcTemplate(dataSource);
              assertThat(KagziStatus.of(kagzi, workers).up()).isTrue();
              assertThat(KagziStatus.of(kagzi, workers).details().get("outbox"))
                  .hasToString("{sent=0}");

              jdbc.execute("DROP TABLE kagzi_outbox");
              await().atMost(SOON).until(() -> !KagziStatus.of(kagzi, workers).up());
              assertThat(String.valueOf(KagziStatus.of(kagzi, workers).details().get("outbox")))
                  .contains("OUTBOX_UNREADABLE=")
                  .containsIgnoringCase("kagzi_outbox");
              OutboxTable.in(dataSource).create();
              await().atMost(SOON).until(() -> KagziStatus.of(kagzi, workers).up());
            });
  }
}
