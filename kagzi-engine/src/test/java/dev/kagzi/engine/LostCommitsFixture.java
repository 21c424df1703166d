package dev.kagzi.engine;

import static dev.kagzi.engine.TestEngine.done;
import static org.awaitility.Awaitility.await;

import dev.kagzi.engine.config.DispatchConfig;
import dev.kagzi.engine.config.WorkerConfig;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.WorkerId;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/**
 * A PostgreSQL that can lose its last commits, and two engines. They are two servers: what one of
 * them holds in memory is unknown to the other.
 */
abstract class LostCommitsFixture {
  static final Duration LONG = Duration.ofMinutes(1);

  /** Workers of these tests send no heartbeats. */
  static final EngineConfig PATIENT =
      EngineConfig.defaults()
          .withWorkers(new WorkerConfig(Duration.ofSeconds(3), LONG, LONG, LONG))
          .withDispatch(DispatchConfig.defaults().withFirstLease(LONG));

  @TempDir Path folder;
  RestoredPostgres postgres;
  Holds connections;
  TestEngine one;
  TestEngine other;
  WorkerId first;
  WorkerId second;

  @BeforeEach
  void open() {
    postgres = new RestoredPostgres(folder);
    connections = new Holds(postgres.config());
    one = TestEngine.start(postgres.config(), "q", PATIENT, connections);
    other = TestEngine.start(postgres.config(), "q", PATIENT);
    first = one.register();
    second = other.register();
  }

  @AfterEach
  void close() {
    other.close();
    one.close();
    postgres.close();
  }

  void save() throws IOException {
    postgres.save();
    awaitBothConnected();
  }

  void loseCommitsSinceSave() throws IOException {
    postgres.loseCommitsSinceSave();
    awaitBothConnected();
    // These reports make each server open a session after the loss.
    Claim unknown = new Claim(RunId.next(), 1);
    one.report(done(unknown, "1"));
    other.report(done(unknown, "1"));
  }

  void awaitBothConnected() {
    awaitConnected(one);
    awaitConnected(other);
  }

  static void awaitConnected(TestEngine engine) {
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> engine.engine().unavailableReason().isEmpty());
  }

  int generation() throws Exception {
    return postgres.integers("SELECT generation FROM kagzi.database_generation").getFirst();
  }
}
