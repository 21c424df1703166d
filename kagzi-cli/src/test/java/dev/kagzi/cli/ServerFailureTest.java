package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.postgres.EmbeddedPostgres;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.KagziException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Driver;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A server process ends when one of its essential threads ends. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ServerFailureTest {
  @TempDir static Path databaseFolder;
  private static EmbeddedPostgres postgres;

  @TempDir Path folder;

  @BeforeAll
  static void startPostgres() {
    postgres = EmbeddedPostgres.builder().dataDir(databaseFolder.resolve("data")).start();
  }

  @AfterAll
  static void stopPostgres() {
    postgres.close();
  }

  @BeforeEach
  void registerFault() throws Exception {
    Path services = Files.createDirectories(folder.resolve("classes/META-INF/services"));
    Files.writeString(services.resolve(Driver.class.getName()), FaultyDriver.class.getName());
  }

  // The lane and the claim thread open their connection with the first write or claim, the listener
  // reconnects after it lost its connection.
  @ParameterizedTest
  @CsvSource({"kagzi-lane-", "kagzi-claim-", "kagzi-notifier-listen"})
  void a_server_whose_thread_runs_out_of_memory_ends_at_once_with_exit_code_70(String thread)
      throws Exception {
    String database = thread.replace('-', '_');
    postgres.createDatabase(database);
    Path fault = folder.resolve("fault");
    try (KagziProcess server =
        KagziProcess.start(
                folder.resolve("classes"),
                folder,
                Map.of(
                    "KAGZI_DB_URL", postgres.jdbcUrl(database),
                    "KAGZI_DB_USER", postgres.user(),
                    "KAGZI_DB_PASSWORD", postgres.password(),
                    "JAVA_TOOL_OPTIONS",
                        "-D%s=%s -D%s=%s"
                            .formatted(FaultyDriver.THREAD, thread, FaultyDriver.WHILE, fault)),
                "server",
                "--port",
                "0",
                "--http-port",
                "0")
            .awaitReady()) {

      Files.createFile(fault);
      provoke(thread, server, database);

      assertThat(server.awaitExit()).isEqualTo(ProcessEnd.FAILED);
      assertThat(server.errors())
          .contains("an essential thread ended, this server cannot go on")
          .contains("kagzi: thread " + thread)
          .contains(
              "ended: java.lang.OutOfMemoryError: planted; this process ends with exit code 70");
    }
  }

  private static void provoke(String thread, KagziProcess server, String database)
      throws Exception {
    if (thread.equals("kagzi-notifier-listen")) {
      try (var connection = postgres.connect(database);
          var statement = connection.createStatement()) {
        statement.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                + " WHERE datname = current_database() AND pid <> pg_backend_pid()");
      }
      return;
    }
    try (Kagzi kagzi =
        Kagzi.builder()
            .address("127.0.0.1:" + server.grpcPort())
            .callTimeout(Duration.ofSeconds(5))
            .connect()) {
      if (thread.equals("kagzi-claim-")) {
        kagzi.worker().workflow(GreetingWorker.GREET, (context, name) -> name).start();
        server.awaitExit();
      } else {
        kagzi.workflow(GreetingWorker.GREET).start("Ada");
      }
    } catch (KagziException serverGone) {
      // Whether the start succeeded does not matter here.
    }
  }
}
