package dev.kagzi.engine.internal.diagnosis;

import dev.kagzi.postgres.EmbeddedPostgres;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** A PostgreSQL for a class, and a database for each of its tests. */
abstract class DiagnosisFixture {
  static final Duration SOON = Duration.ofSeconds(20);
  static final String RUN = "01890a5d-ac96-774b-bcce-b302099a8057";
  static EmbeddedPostgres postgres;

  DiagnosedDatabase database;

  @BeforeAll
  static void start() {
    postgres =
        EmbeddedPostgres.builder()
            .ephemeral()
            .setting("max_prepared_transactions", "5")
            .setting("max_connections", "60")
            .start();
  }

  @AfterAll
  static void stop() {
    postgres.close();
  }

  @BeforeEach
  void open() throws SQLException {
    database = new DiagnosedDatabase(postgres);
  }

  @AfterEach
  void close() throws SQLException {
    database.close();
  }
}
