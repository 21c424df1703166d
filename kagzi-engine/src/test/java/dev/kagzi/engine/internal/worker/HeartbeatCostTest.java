package dev.kagzi.engine.internal.worker;

import static dev.kagzi.engine.TestEngine.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.TestConfigs;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.WatchedConnector;
import dev.kagzi.engine.config.NotifierKind;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.worker.HeartbeatResult;
import dev.kagzi.engine.worker.WorkerHeartbeat;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The cost of a heartbeat in the database: every worker sends one every few seconds. */
class HeartbeatCostTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  @Test
  void the_heartbeat_of_an_idle_worker_is_one_autocommit_statement() {
    WatchedConnector watched = new WatchedConnector(() -> Database.connect(database.config()));
    try (TestEngine engine =
        TestEngine.start(database.config(), "idle", EngineConfig.defaults(), watched)) {
      WorkerId worker = engine.register();
      heartbeat(engine, worker);
      watched.forget();

      heartbeat(engine, worker);

      assertThat(watched.byLanes())
          .singleElement()
          .satisfies(
              sent -> {
                assertThat(sent.sql()).isEqualTo(HeartbeatWriter.BEAT_SQL);
                assertThat(sent.alone()).isTrue();
              });
    }
  }

  /**
   * The engine has no notifier over PostgreSQL, because its commits do not wait for the disk
   * either.
   */
  @Test
  void heartbeats_do_not_wait_for_the_disk_and_everything_else_does() throws Exception {
    List<Connection> writers = new CopyOnWriteArrayList<>();
    try (TestEngine engine =
        TestEngine.start(
            database.config(),
            "disk",
            TestConfigs.withNotifier(NotifierKind.IN_PROCESS),
            () -> {
              Connection opened = Database.connect(database.config());
              writers.add(opened);
              return opened;
            })) {
      heartbeat(engine, engine.register());
      engine.start();

      List<String> settings = new ArrayList<>();
      for (Connection writer : writers) {
        if (!writer.isClosed()) {
          settings.add(synchronousCommit(writer));
        }
      }

      assertThat(settings).contains("on").containsOnlyOnce("off");
    }
  }

  private static void heartbeat(TestEngine engine, WorkerId worker) {
    HeartbeatResult result =
        await(
            engine
                .engine()
                .workers()
                .heartbeat(new WorkerHeartbeat(worker, List.of(), 0, 0, 0, null, 0, 0)));
    assertThat(result.lost()).isEmpty();
  }

  private static String synchronousCommit(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SHOW synchronous_commit")) {
      row.next();
      return row.getString(1);
    }
  }
}
