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

/** Which version a run has that is started without one. */
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
        new StartRequest(NAMESPACE, "", type, type, version, payload("1"), null, null);
    RunId run = await(where.engine().runs().start(request)).runId();
    return where.run(run).version();
  }

  @Test
  void without_a_default_it_is_the_empty_one_and_one_asked_for_is_kept() {
    assertThat(started(engine, "")).isEmpty();
    assertThat(engine.engine().versions().set(NAMESPACE, type, "2")).isEmpty();

    assertThat(started(engine, "")).isEqualTo("2");
    assertThat(started(engine, "1")).isEqualTo("1");
    assertThat(engine.engine().versions().set(NAMESPACE, type, "")).isEqualTo("2");
    assertThat(started(engine, "")).isEmpty();
  }

  @Test
  void it_is_of_its_namespace_alone() {
    engine.engine().versions().set("other", type, "2");

    assertThat(started(engine, "")).isEmpty();
  }

  @Test
  void another_server_knows_it_within_a_second() {
    try (TestEngine other = TestEngine.start(database.config(), type, CONFIG)) {
      engine.engine().versions().set(NAMESPACE, type, "2");

      Awaitility.await()
          .atMost(Duration.ofSeconds(1))
          .until(() -> other.engine().versions().resolve(NAMESPACE, type, "").equals("2"));
    }
  }

  @Test
  void a_change_of_which_nobody_told_is_seen_with_the_pulse() {
    database.execute(
        "INSERT INTO kagzi.workflow_types (namespace, workflow_type, default_version, updated_at)"
            + " VALUES ('%s', '%s', '3', kagzi.clock())".formatted(NAMESPACE, type));

    Awaitility.await()
        .until(() -> engine.engine().versions().resolve(NAMESPACE, type, "").equals("3"));
  }

  @Test
  void a_server_that_starts_knows_what_there_is() {
    engine.engine().versions().set(NAMESPACE, type, "2");

    try (TestEngine other = TestEngine.start(database.config(), type, CONFIG)) {
      assertThat(started(other, "")).isEqualTo("2");
    }
  }

  @Test
  void a_run_that_is_repeated_keeps_its_version() {
    StartRequest request =
        new StartRequest(NAMESPACE, "", type, type, "", payload("1"), null, null);
    RunId run = await(engine.engine().runs().start(request)).runId();
    await(engine.engine().runs().cancel(NAMESPACE, run));
    engine.engine().versions().set(NAMESPACE, type, "2");

    RunId again = await(engine.engine().runs().retry(NAMESPACE, run, null)).runId();

    assertThat(engine.run(again).version()).isEmpty();
  }

  @Test
  void names_that_cannot_be_are_refused() {
    assertThatThrownBy(() -> engine.engine().versions().set(NAMESPACE, "", "2"))
        .isInstanceOf(Refusal.class);
    assertThatThrownBy(() -> engine.engine().versions().set(NAMESPACE, type, "a\nb"))
        .isInstanceOf(Refusal.class);
  }
}
