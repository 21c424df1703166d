package dev.kagzi.engine;

import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.config.DispatchConfig;
import dev.kagzi.engine.config.NotifierKind;
import dev.kagzi.engine.dispatch.Poll;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.internal.notification.InProcessNotifier;
import dev.kagzi.engine.run.RunEnd;
import dev.kagzi.engine.value.UnreachableServerException;
import dev.kagzi.engine.value.WorkerId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Engines with each notifier, and with different ones. */
class NotifierChoiceTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final Duration LIMIT = Duration.ofSeconds(30);

  private static TestEngine start(NotifierKind kind, String queue) {
    return TestEngine.start(
        database.config(),
        queue,
        TestConfigs.withNotifier(kind)
            .withCoordinatorInterval(Duration.ofMillis(100))
            .withDispatch(DispatchConfig.defaults().withFallbackInterval(Duration.ofHours(1))));
  }

  /** The fallback queries run once per hour, so only messages can cause the effects. */
  @ParameterizedTest
  @EnumSource(NotifierKind.class)
  void a_run_that_starts_at_one_engine_is_executed_and_awaited_at_another(NotifierKind kind) {
    try (TestEngine one = start(kind, "both-" + kind);
        TestEngine other = start(kind, "both-" + kind)) {
      WorkerId worker = other.register();
      Poll poll = other.poll(worker, 1);

      one.engine().clockMoved();

      // A new server may not listen yet: the next start reaches it.
      Awaitility.await()
          .atMost(LIMIT)
          .until(
              () -> {
                one.start();
                return poll.tasks().isDone();
              });
      Task task = await(poll.tasks()).get(0);
      CompletableFuture<Optional<RunEnd>> end = one.end(task.claim().runId());
      other.report(done(task.claim(), "1"));

      assertThat(await(end)).isPresent();
    }
  }

  @Test
  void in_process_is_refused_beside_a_server_that_it_does_not_reach() {
    try (TestEngine other = start(NotifierKind.POSTGRES, "refused")) {
      assertThat(other.engine().unavailableReason()).isEmpty();

      assertThatThrownBy(() -> start(NotifierKind.IN_PROCESS, "refused").close())
          .isInstanceOf(UnreachableServerException.class)
          .hasMessageStartingWith(
              "notifier: in-process (expected: postgres, since another server works on this"
                  + " database; or stop that one: ");
    }
  }

  /** A killed server leaves its row behind, which must not prevent its restart. */
  @Test
  void in_process_starts_after_a_server_was_killed_and_deletes_its_row() {
    database.execute(
        "INSERT INTO kagzi.servers (server_id, hostname, started_at, heartbeat_at)"
            + " VALUES (gen_random_uuid(), 'killed', kagzi.clock(), kagzi.clock())");
    try (CapturedLog log = CapturedLog.of(InProcessNotifier.class);
        TestEngine engine = start(NotifierKind.IN_PROCESS, "killed")) {
      engine.engine().clockMoved();

      assertThat(new Stored(database).count("SELECT count(*) AS value FROM kagzi.servers"))
          .isEqualTo(1);
      assertThat(log.lines()).isEmpty();
    }
  }

  @Test
  void in_process_logs_that_another_server_has_started() {
    try (CapturedLog log = CapturedLog.of(InProcessNotifier.class);
        TestEngine engine = start(NotifierKind.IN_PROCESS, "came")) {
      assertThat(engine.engine().unavailableReason()).isEmpty();
      assertThat(log.lines()).isEmpty();

      try (TestEngine other = start(NotifierKind.POSTGRES, "came")) {
        Awaitility.await().atMost(LIMIT).until(() -> !log.lines().isEmpty());
        other.engine().clockMoved();
        engine.engine().clockMoved();
      }

      assertThat(log.lines())
          .isEqualTo(
              List.of(
                  "ERROR another server works on this database, and notifier in-process does not"
                      + " reach it: set notifier to postgres on every server and restart them"
                      + " others=1"));
    }
  }
}
