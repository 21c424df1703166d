package dev.kagzi.engine.notification;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.thread.EssentialThreads;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What every notifier promises, whichever way its notices go. */
class NotifierTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final Duration LIMIT = Duration.ofSeconds(30);

  private final EssentialThreads threads = new EssentialThreads();
  private final List<Notifier> open = new ArrayList<>();

  @AfterEach
  void close() {
    threads.close();
    open.forEach(Notifier::close);
  }

  private Notifier notifier(NotifierKind kind, Consumer<ServerMessage> listener) {
    UUID id = RunId.next().value();
    Notifier made =
        switch (kind) {
          case POSTGRES -> new PostgresNotifier(database.open(), id, listener, threads);
          case IN_PROCESS ->
              new InProcessNotifier(database.open().address(), id, listener, threads);
        };
    open.add(made);
    return made;
  }

  /** Its notices are heard by those that are returned before. */
  private Notifier started(NotifierKind kind, Consumer<ServerMessage> listener) {
    Notifier made = notifier(kind, listener);
    made.start();
    made.setOtherServers(1);
    return made;
  }

  /** LISTEN takes a moment: until the ear hears, the voice repeats itself. */
  private static void awaitReach(Notifier voice, List<ServerMessage> ear) {
    ServerMessage probe = new ServerMessage.Namespace("probe " + UUID.randomUUID());
    Awaitility.await()
        .atMost(LIMIT)
        .until(
            () -> {
              voice.publish(probe);
              return ear.contains(probe);
            });
  }

  private static List<ServerMessage> oneOfEach() {
    WorkerId worker = WorkerId.next();
    Claim claim = new Claim(RunId.next(), 3);
    return List.of(
        new ServerMessage.Work(new QueueName("n s", "q"), new TypeVersion("t", ""), 7),
        new ServerMessage.Ended(RunId.next()),
        new ServerMessage.Stop(worker, claim, RunStatus.CANCELLED),
        new ServerMessage.Wake(worker, claim),
        new ServerMessage.Drain(worker),
        new ServerMessage.Namespace("n"),
        new ServerMessage.Versions(),
        new ServerMessage.Everything());
  }

  @Test
  void these_tests_tell_every_kind_of_notice() {
    assertThat(oneOfEach().stream().<Class<?>>map(Object::getClass))
        .containsExactlyInAnyOrder(ServerMessage.class.getPermittedSubclasses());
  }

  @ParameterizedTest
  @EnumSource(NotifierKind.class)
  void what_one_tells_all_others_hear_in_order_and_it_does_not_hear_itself(NotifierKind kind) {
    List<ServerMessage> heard = new CopyOnWriteArrayList<>();
    List<ServerMessage> heardToo = new CopyOnWriteArrayList<>();
    List<ServerMessage> own = new CopyOnWriteArrayList<>();
    started(kind, heard::add);
    started(kind, heardToo::add);
    Notifier voice = started(kind, own::add);
    awaitReach(voice, heard);
    awaitReach(voice, heardToo);
    heard.removeIf(ServerMessage.Namespace.class::isInstance);

    List<ServerMessage> told = oneOfEach();
    told.forEach(voice::publish);

    Awaitility.await().atMost(LIMIT).until(() -> heard.containsAll(told));
    Awaitility.await().atMost(LIMIT).until(() -> heardToo.containsAll(told));
    assertThat(heard.stream().filter(told::contains)).containsExactlyElementsOf(told);
    assertThat(own).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(NotifierKind.class)
  void nothing_is_heard_before_the_start_and_after_the_close(NotifierKind kind) {
    List<ServerMessage> early = new CopyOnWriteArrayList<>();
    List<ServerMessage> closed = new CopyOnWriteArrayList<>();
    List<ServerMessage> heard = new CopyOnWriteArrayList<>();
    Notifier notStarted = notifier(kind, early::add);
    Notifier leaving = started(kind, closed::add);
    started(kind, heard::add);
    Notifier voice = started(kind, notice -> {});
    awaitReach(voice, closed);
    awaitReach(voice, heard);

    leaving.close();
    voice.publish(new ServerMessage.Versions());
    Awaitility.await().atMost(LIMIT).until(() -> heard.contains(new ServerMessage.Versions()));

    assertThat(early).isEmpty();
    assertThat(closed).doesNotContain(new ServerMessage.Versions());
    notStarted.start();
    awaitReach(voice, early);
  }

  @ParameterizedTest
  @EnumSource(NotifierKind.class)
  void a_listener_that_fails_hears_what_comes_next(NotifierKind kind) {
    List<ServerMessage> heard = new CopyOnWriteArrayList<>();
    started(
        kind,
        notice -> {
          heard.add(notice);
          if (notice instanceof ServerMessage.Drain) {
            throw new IllegalStateException("a listener may fail");
          }
        });
    Notifier voice = started(kind, notice -> {});
    awaitReach(voice, heard);

    voice.publish(new ServerMessage.Drain(WorkerId.next()));
    voice.publish(new ServerMessage.Versions());

    Awaitility.await().atMost(LIMIT).until(() -> heard.contains(new ServerMessage.Versions()));
  }

  /** Whoever cannot follow is told to look at everything, and memory stays bounded. */
  @ParameterizedTest
  @EnumSource(NotifierKind.class)
  void what_is_too_much_at_once_is_told_as_everything(NotifierKind kind) throws Exception {
    List<ServerMessage> heard = new CopyOnWriteArrayList<>();
    CountDownLatch release = new CountDownLatch(1);
    ServerMessage hold = new ServerMessage.Namespace("hold");
    started(
        kind,
        notice -> {
          heard.add(notice);
          if (notice.equals(hold)) {
            awaitQuietly(release);
          }
        });
    Notifier voice = started(kind, notice -> {});
    awaitReach(voice, heard);
    voice.publish(hold);
    Awaitility.await().atMost(LIMIT).until(() -> heard.contains(hold));

    RunId last = RunId.next();
    for (int i = 0; i < 20_000; i++) {
      voice.publish(new ServerMessage.Ended(RunId.next()));
    }
    voice.publish(new ServerMessage.Ended(last));
    release.countDown();

    Awaitility.await()
        .atMost(LIMIT)
        .until(
            () ->
                heard.contains(new ServerMessage.Ended(last))
                    || heard.contains(new ServerMessage.Everything()));
    assertThat(heard.size() > 20_000 || heard.contains(new ServerMessage.Everything())).isTrue();
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await(LIMIT.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    }
  }
}
