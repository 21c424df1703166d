package dev.kagzi.engine.run;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.payload;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.Stored;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.TestOptions;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.Shard;
import dev.kagzi.engine.value.WorkerId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Starts are idempotent by run id and by external id. */
class StartTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static TestEngine engine;
  private static TestEngine other;
  private final Stored stored = new Stored(database);

  @BeforeAll
  static void open() {
    EngineConfig config = EngineConfig.defaults().withAutoCreateNamespaces(true);
    engine = TestEngine.start(database.config(), "starts", config);
    other = TestEngine.start(database.config(), "starts", config);
  }

  @AfterAll
  static void close() {
    other.close();
    engine.close();
  }

  private static CompletableFuture<StartResult> start(
      TestEngine where, String namespace, String type, String externalId, RunId runId) {
    return where
        .engine()
        .runs()
        .start(
            new StartRequest(
                namespace,
                externalId,
                "starts",
                type,
                "",
                payload("1"),
                null,
                runId,
                StartOptions.NONE));
  }

  private static CompletableFuture<StartResult> start(
      TestEngine where, String externalId, IfExists policy) {
    return where
        .engine()
        .runs()
        .start(
            new StartRequest(
                NAMESPACE,
                externalId,
                "starts",
                TYPE,
                "",
                payload("1"),
                null,
                null,
                new TestOptions().withIfExists(policy).build()));
  }

  private static RunId id(String namespace, String externalId) {
    return RunId.next(Shard.of(namespace, externalId));
  }

  @Test
  void a_chosen_id_must_be_in_the_shard_of_the_external_id() {
    RunId other = RunId.next(new Shard(Shard.of(NAMESPACE, "order-7").bits() ^ 1));

    assertRefused(
        start(engine, NAMESPACE, TYPE, "order-7", other), Refusal.Reason.INVALID_ARGUMENT);
    assertThat(rows("order-7")).isZero();
    assertThat(engine.start("order-7").runId().shard()).isEqualTo(Shard.of(NAMESPACE, "order-7"));
    assertThat(await(start(engine, NAMESPACE, TYPE, "", other)).runId()).isEqualTo(other);
  }

  private static void assertRefused(CompletableFuture<?> answer, Refusal.Reason reason) {
    assertThatThrownBy(() -> await(answer))
        .isInstanceOfSatisfying(
            Refusal.class, refusal -> assertThat(refusal.reason()).isEqualTo(reason));
  }

  private long rows(String externalId) {
    return stored.count(
        "SELECT count(*) AS value FROM kagzi.workflow_runs WHERE external_id = '"
            + externalId
            + "'");
  }

  @Test
  void a_start_with_the_external_id_of_an_active_run_returns_it() {
    StartResult first = engine.start("order-1");

    StartResult again = engine.start("order-1");
    StartResult elsewhere = other.start("order-1");
    StartResult inOtherNamespace =
        await(start(engine, "tenant", TYPE, "order-1", id("tenant", "order-1")));

    assertThat(first.existed()).isFalse();
    assertThat(again).isEqualTo(StartResult.existing(first.runId(), TYPE));
    assertThat(elsewhere).isEqualTo(StartResult.existing(first.runId(), TYPE));
    assertThat(inOtherNamespace.existed()).isFalse();
  }

  @Test
  void after_its_end_the_external_id_is_free_for_a_new_run() {
    StartResult first = engine.start("order-2");
    await(engine.engine().runs().cancel(NAMESPACE, first.runId()));

    StartResult second = engine.start("order-2");
    StartResult third = engine.start("order-2");

    assertThat(second.existed()).isFalse();
    assertThat(second.runId()).isNotEqualTo(first.runId());
    assertThat(third).isEqualTo(StartResult.existing(second.runId(), TYPE));
    assertThat(engine.engine().queries().byExternalId(NAMESPACE, "order-2").runId())
        .isEqualTo(second.runId());
  }

  @Test
  void fifty_starts_with_one_external_id_on_two_servers_are_one_run() {
    List<CompletableFuture<StartResult>> answers = new ArrayList<>();
    for (int i = 0; i < 25; i++) {
      answers.add(start(engine, NAMESPACE, TYPE, "order-3", id(NAMESPACE, "order-3")));
      answers.add(start(other, NAMESPACE, TYPE, "order-3", id(NAMESPACE, "order-3")));
    }

    Set<RunId> ids = new HashSet<>();
    int created = 0;
    for (CompletableFuture<StartResult> answer : answers) {
      StartResult result = await(answer);
      ids.add(result.runId());
      created += result.existed() ? 0 : 1;
    }

    assertThat(ids).hasSize(1);
    assertThat(created).isEqualTo(1);
    assertThat(rows("order-3")).isEqualTo(1);
  }

  @Test
  void of_fifty_starts_with_reject_on_two_servers_one_is_accepted() {
    List<CompletableFuture<StartResult>> answers = new ArrayList<>();
    for (int i = 0; i < 25; i++) {
      answers.add(start(engine, "reject-2", IfExists.REJECT));
      answers.add(start(other, "reject-2", IfExists.REJECT));
    }

    int started = 0;
    for (CompletableFuture<StartResult> answer : answers) {
      try {
        await(answer);
        started++;
      } catch (Refusal refused) {
        assertThat(refused.code()).isEqualTo(Refusal.Code.ID_IN_USE);
      }
    }

    assertThat(started).isEqualTo(1);
    assertThat(rows("reject-2")).isEqualTo(1);
  }

  @Test
  void a_repeated_start_with_the_same_run_id_gets_the_same_answer() {
    RunId id = id(NAMESPACE, "order-4");
    StartResult first = await(start(engine, NAMESPACE, TYPE, "order-4", id));

    StartResult again = await(start(engine, NAMESPACE, TYPE, "order-4", id));
    StartResult elsewhere = await(start(other, NAMESPACE, TYPE, "order-4", id));
    List<CompletableFuture<StartResult>> together = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      together.add(start(i % 2 == 0 ? engine : other, NAMESPACE, TYPE, "order-4", id));
    }

    assertThat(first).isEqualTo(StartResult.made(id));
    assertThat(again).isEqualTo(first);
    assertThat(elsewhere).isEqualTo(first);
    assertThat(together).allMatch(answer -> await(answer).equals(first));
    assertThat(rows("order-4")).isEqualTo(1);
  }

  @Test
  void a_repeated_start_after_the_end_of_the_run_does_not_start_it_again() {
    RunId id = id(NAMESPACE, "order-5");
    await(start(engine, NAMESPACE, TYPE, "order-5", id));
    await(engine.engine().runs().cancel(NAMESPACE, id));

    StartResult again = await(start(engine, NAMESPACE, TYPE, "order-5", id));

    assertThat(again).isEqualTo(StartResult.made(id));
    assertThat(engine.run(id).status()).isEqualTo(RunStatus.CANCELLED);
    assertThat(rows("order-5")).isEqualTo(1);
  }

  @Test
  void a_start_with_reject_is_refused_while_a_run_with_its_external_id_is_active() {
    StartResult first = await(start(engine, "reject-1", IfExists.REJECT));

    assertThatThrownBy(() -> await(start(other, "reject-1", IfExists.REJECT)))
        .isInstanceOfSatisfying(
            Refusal.class,
            refusal -> {
              assertThat(refusal.reason()).isEqualTo(Refusal.Reason.ALREADY_EXISTS);
              assertThat(refusal).hasMessageContaining(first.runId().toString());
            });
    await(engine.engine().runs().cancel(NAMESPACE, first.runId()));
    assertThat(await(start(engine, "reject-1", IfExists.REJECT)).existed()).isFalse();
  }

  @Test
  void a_start_with_use_existing_any_returns_a_run_that_has_ended() {
    StartResult first = await(start(engine, "any-1", IfExists.USE_EXISTING_ANY));
    StartResult active = await(start(engine, "any-1", IfExists.USE_EXISTING_ANY));
    await(engine.engine().runs().cancel(NAMESPACE, first.runId()));
    StartResult ended = await(start(other, "any-1", IfExists.USE_EXISTING_ANY));

    assertThat(first.existed()).isFalse();
    assertThat(active).isEqualTo(StartResult.existing(first.runId(), TYPE));
    assertThat(ended).isEqualTo(StartResult.existing(first.runId(), TYPE));
    assertThat(rows("any-1")).isEqualTo(1);
  }

  @Test
  void of_several_ended_runs_the_latest_is_returned() {
    StartResult first = engine.start("any-2");
    await(engine.engine().runs().cancel(NAMESPACE, first.runId()));
    StartResult second = engine.start("any-2");
    await(engine.engine().runs().cancel(NAMESPACE, second.runId()));

    assertThat(await(start(engine, "any-2", IfExists.USE_EXISTING_ANY)))
        .isEqualTo(StartResult.existing(second.runId(), TYPE));
  }

  /** A run may start and end between the lookup and the insert of another start. */
  @Test
  void starts_with_use_existing_any_create_one_run_however_fast_it_ends() {
    for (int round = 0; round < 20; round++) {
      String name = "any-fast-" + round;
      List<CompletableFuture<StartResult>> answers = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        TestEngine where = i % 2 == 0 ? engine : other;
        answers.add(
            start(where, name, IfExists.USE_EXISTING_ANY)
                .thenCompose(
                    started ->
                        where
                            .engine()
                            .runs()
                            .cancel(NAMESPACE, started.runId())
                            .thenApply(cancelled -> started)));
      }
      Set<RunId> ids = new HashSet<>();
      answers.forEach(answer -> ids.add(await(answer).runId()));

      assertThat(ids).hasSize(1);
      assertThat(rows(name)).isEqualTo(1);
    }
  }

  @Test
  void an_id_that_another_run_has_is_refused() {
    RunId id = id(NAMESPACE, "order-6");
    await(start(engine, NAMESPACE, TYPE, "", id));
    String before = stored.everythingOf(id);

    assertRefused(start(engine, NAMESPACE, "another-type", "", id), Refusal.Reason.ALREADY_EXISTS);
    assertRefused(start(engine, NAMESPACE, TYPE, "order-6", id), Refusal.Reason.ALREADY_EXISTS);
    assertRefused(start(engine, "tenant", TYPE, "", id), Refusal.Reason.INVALID_ARGUMENT);
    assertThat(stored.everythingOf(id)).isEqualTo(before);
  }

  /** A refused start releases its slot: the polling worker gets the next run. */
  @Test
  void a_refused_start_releases_its_reserved_slot() {
    WorkerId worker = engine.register();
    RunId id = RunId.next();
    await(start(engine, NAMESPACE, "another-type", "", id));
    for (int i = 0; i < 3; i++) {
      var poll = engine.poll(worker, 1);
      assertRefused(start(engine, NAMESPACE, TYPE, "", id), Refusal.Reason.ALREADY_EXISTS);

      RunId run = engine.start();
      var tasks = await(poll.tasks());

      assertThat(tasks).hasSize(1);
      engine.report(done(tasks.get(0).claim(), "1"));
      assertThat(run).isNotNull();
    }
  }

  @Test
  void an_active_run_is_preferred_to_ended_ones() {
    StartResult ended = engine.start("any-3");
    await(engine.engine().runs().cancel(NAMESPACE, ended.runId()));
    StartResult active = engine.start("any-3");

    assertThat(await(start(other, "any-3", IfExists.USE_EXISTING_ANY)))
        .isEqualTo(StartResult.existing(active.runId(), TYPE));
  }
}
