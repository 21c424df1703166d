package dev.kagzi.engine.run;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.payload;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The version of runs that are started without one. */
class DefaultVersionsTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final EngineConfig CONFIG =
      EngineConfig.defaults().withCoordinatorInterval(Duration.ofMillis(100));

  private String type;
  private TestEngine engine;

  @BeforeEach
  void open(TestInfo test) {
    type = test.getTestMethod().orElseThrow().getName();
    engine = TestEngine.start(database.config(), type, CONFIG);
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private String started(TestEngine where, String version) {
    StartRequest request =
        new StartRequest(
            NAMESPACE, "", type, type, version, payload("1"), null, null, StartOptions.NONE);
    RunId run = await(where.engine().runs().start(request)).runId();
    return where.run(run).version();
  }

  @Test
  void without_a_default_the_version_is_empty_and_a_requested_version_is_kept() {
    assertThat(started(engine, "")).isEmpty();
    assertThat(engine.engine().versions().set(NAMESPACE, type, "2", null)).isEmpty();

    assertThat(started(engine, "")).isEqualTo("2");
    assertThat(started(engine, "1")).isEqualTo("1");
    assertThat(engine.engine().versions().set(NAMESPACE, type, "", null)).isEqualTo("2");
    assertThat(started(engine, "")).isEmpty();
  }

  @Test
  void a_default_version_applies_only_to_its_namespace() {
    engine.engine().versions().set("other", type, "2", null);

    assertThat(started(engine, "")).isEmpty();
  }

  @Test
  void another_server_uses_a_new_default_version_within_a_second() {
    try (TestEngine other = TestEngine.start(database.config(), type, CONFIG)) {
      engine.engine().versions().set(NAMESPACE, type, "2", null);

      Awaitility.await()
          .atMost(Duration.ofSeconds(1))
          .until(() -> other.engine().versions().resolve(NAMESPACE, type, "").equals("2"));
    }
  }

  @Test
  void a_change_without_a_server_message_is_read_by_a_chore() {
    database.execute(
        "INSERT INTO kagzi.workflow_types (namespace, workflow_type, default_version, updated_at)"
            + " VALUES ('%s', '%s', '3', kagzi.clock())".formatted(NAMESPACE, type));

    Awaitility.await()
        .until(() -> engine.engine().versions().resolve(NAMESPACE, type, "").equals("3"));
  }

  @Test
  void a_server_reads_the_default_versions_at_startup() {
    engine.engine().versions().set(NAMESPACE, type, "2", null);

    try (TestEngine other = TestEngine.start(database.config(), type, CONFIG)) {
      assertThat(started(other, "")).isEqualTo("2");
    }
  }

  @Test
  void a_retried_run_keeps_its_version() {
    StartRequest request =
        new StartRequest(
            NAMESPACE, "", type, type, "", payload("1"), null, null, StartOptions.NONE);
    RunId run = await(engine.engine().runs().start(request)).runId();
    await(engine.engine().runs().cancel(NAMESPACE, run));
    engine.engine().versions().set(NAMESPACE, type, "2", null);

    RunId again = await(engine.engine().runs().retry(NAMESPACE, run, null, null)).runId();

    assertThat(engine.run(again).version()).isEmpty();
  }

  @Test
  void invalid_names_are_refused() {
    assertThatThrownBy(() -> engine.engine().versions().set(NAMESPACE, "", "2", null))
        .isInstanceOf(Refusal.class);
    assertThatThrownBy(() -> engine.engine().versions().set(NAMESPACE, type, "a\nb", null))
        .isInstanceOf(Refusal.class);
  }
}
