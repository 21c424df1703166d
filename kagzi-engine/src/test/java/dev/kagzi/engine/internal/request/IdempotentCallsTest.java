package dev.kagzi.engine.internal.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.request.EndedLogins;
import dev.kagzi.engine.value.Refusal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Repeated calls take effect once. */
class IdempotentCallsTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private final AtomicInteger executions = new AtomicInteger();
  private Database db;

  @BeforeEach
  void open() {
    db = database.open();
    database.execute("DELETE FROM kagzi.requests");
  }

  private String send(IdempotentCall call) {
    return IdempotentCalls.once(
        db,
        call,
        tx -> "answer " + executions.incrementAndGet(),
        answer -> answer,
        (tx, stored) -> stored);
  }

  @Test
  void a_call_is_executed_once_and_answered_the_same() {
    IdempotentCall call = IdempotentCall.of(UUID.randomUUID(), "Pause", "default", 7);

    assertThat(List.of(send(call), send(call))).containsOnly("answer 1");
    assertThat(send(IdempotentCall.of(null, "Pause", "default", 7))).isEqualTo("answer 2");
    assertThat(send(IdempotentCall.of(null, "Pause", "default", 7))).isEqualTo("answer 3");
  }

  @Test
  void concurrent_calls_with_the_same_id_are_executed_once() throws Exception {
    IdempotentCall call = IdempotentCall.of(UUID.randomUUID(), "Pause", "default", 7);
    Set<String> answers = new HashSet<>();

    try (ExecutorService callers = Executors.newFixedThreadPool(6)) {
      List<Future<String>> sent = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        sent.add(callers.submit(() -> send(call)));
      }
      for (Future<String> each : sent) {
        answers.add(each.get(30, TimeUnit.SECONDS));
      }
    }

    assertThat(answers).containsExactly("answer 1");
    assertThat(executions).hasValue(1);
  }

  @Test
  void a_call_that_was_refused_may_succeed_later() {
    IdempotentCall call = IdempotentCall.of(UUID.randomUUID(), "Pause", "default", 7);

    assertThatThrownBy(
            () ->
                IdempotentCalls.once(
                    db,
                    call,
                    tx -> {
                      throw Refusal.notFound("schedule", "7");
                    },
                    String::valueOf,
                    (tx, stored) -> stored))
        .isInstanceOf(Refusal.class);

    assertThat(IdempotentCalls.isStored(db, call)).isFalse();
    assertThat(send(call)).isEqualTo("answer 1");
    assertThat(IdempotentCalls.isStored(db, call)).isTrue();
  }

  @Test
  void an_id_that_was_used_for_another_call_is_refused() {
    UUID id = UUID.randomUUID();
    send(IdempotentCall.of(id, "Pause", "default", 7));

    assertThatThrownBy(() -> send(IdempotentCall.of(id, "Resume", "default", 7)))
        .hasMessageContaining("request_id: " + id + " was used for Pause default 7");
    assertThat(executions).hasValue(1);
  }

  @Test
  void a_login_that_was_ended_is_known_to_all_servers() {
    UUID login = UUID.randomUUID();
    EndedLogins logins = new EndedLogins(db);
    assertThat(logins.contains(login)).isFalse();

    logins.add(login);
    logins.add(login);

    assertThat(new EndedLogins(db).contains(login)).isTrue();
    assertThat(logins.contains(UUID.randomUUID())).isFalse();
    assertThat(EndedLogins.REMEMBERED).isEqualTo(Duration.ofDays(1));
  }

  @Test
  void calls_are_purged_after_a_day() {
    IdempotentCall old = IdempotentCall.of(UUID.randomUUID(), "Pause", "default", 7);
    IdempotentCall young = IdempotentCall.of(UUID.randomUUID(), "Pause", "default", 8);
    send(old);
    send(young);
    database.execute(
        "UPDATE kagzi.requests SET created_at = created_at - interval '25 hours' WHERE request_id ="
            + " '"
            + old.id()
            + "'");

    int purged = db.write(tx -> IdempotentCalls.purge(tx, 10));

    assertThat(purged).isEqualTo(1);
    assertThat(IdempotentCalls.isStored(db, old)).isFalse();
    assertThat(IdempotentCalls.isStored(db, young)).isTrue();
  }
}
