package dev.kagzi.engine.internal.notification;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.config.NotifierKind;
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
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The contract of every notifier. */
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

  /** Creates a notifier that reaches the ones that were created before it. */
  private Notifier started(NotifierKind kind, Consumer<ServerMessage> listener) {
    Notifier made = notifier(kind, listener);
    made.start();
    made.setOtherServers(1, System.nanoTime());
    return made;
  }

  /** LISTEN takes a moment: publishes repeatedly until the receiver gets a message. */
  private static void awaitReach(Notifier sender, List<ServerMessage> received) {
    ServerMessage probe = new ServerMessage.Namespace("probe " + UUID.randomUUID());
    Awaitility.await()
        .atMost(LIMIT)
        .until(
            () -> {
              sender.publish(probe);
              return received.contains(probe);
            });
  }

  private static List<ServerMessage> oneOfEach() {
    WorkerId worker = WorkerId.next();
    Claim claim = new Claim(RunId.next(), 3);
    return List.of(
        new ServerMessage.Work(new QueueName("n s", "q"), new TypeVersion("t", ""), 7, 3),
        new ServerMessage.Ended(RunId.next()),
        new ServerMessage.Awaited(RunId.next()),
        new ServerMessage.Stop(worker, claim, RunStatus.CANCELLED),
        new ServerMessage.StepEnded(worker, claim),
        new ServerMessage.CancelRequested(worker, claim),
        new ServerMessage.Drain(worker),
        new ServerMessage.Namespace("n"),
        new ServerMessage.Versions(),
        new ServerMessage.Everything());
  }

  @Test
  void these_tests_publish_every_kind_of_message() {
    assertThat(oneOfEach().stream().<Class<?>>map(Object::getClass))
        .containsExactlyInAnyOrderElementsOf(kinds(ServerMessage.class).toList());
  }

  private static Stream<Class<?>> kinds(Class<?> type) {
    return type.isSealed()
        ? Stream.of(type.getPermittedSubclasses()).flatMap(NotifierTest::kinds)
        : Stream.of(type);
  }

  @ParameterizedTest
  @EnumSource(NotifierKind.class)
  void all_others_receive_messages_in_order_and_the_sender_does_not(NotifierKind kind) {
    List<ServerMessage> received = new CopyOnWriteArrayList<>();
    List<ServerMessage> receivedToo = new CopyOnWriteArrayList<>();
    List<ServerMessage> own = new CopyOnWriteArrayList<>();
    started(kind, received::add);
    started(kind, receivedToo::add);
    Notifier sender = started(kind, own::add);
    awaitReach(sender, received);
    awaitReach(sender, receivedToo);
    received.removeIf(ServerMessage.Namespace.class::isInstance);

    List<ServerMessage> published = oneOfEach();
    published.forEach(sender::publish);

    Awaitility.await().atMost(LIMIT).until(() -> received.containsAll(published));
    Awaitility.await().atMost(LIMIT).until(() -> receivedToo.containsAll(published));
    assertThat(received.stream().filter(published::contains)).containsExactlyElementsOf(published);
    assertThat(own).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(NotifierKind.class)
  void nothing_is_received_before_start_and_after_close(NotifierKind kind) {
    List<ServerMessage> early = new CopyOnWriteArrayList<>();
    List<ServerMessage> closed = new CopyOnWriteArrayList<>();
    List<ServerMessage> received = new CopyOnWriteArrayList<>();
    Notifier notStarted = notifier(kind, early::add);
    Notifier leaving = started(kind, closed::add);
    started(kind, received::add);
    Notifier sender = started(kind, message -> {});
    awaitReach(sender, closed);
    awaitReach(sender, received);

    leaving.close();
    sender.publish(new ServerMessage.Versions());
    Awaitility.await().atMost(LIMIT).until(() -> received.contains(new ServerMessage.Versions()));

    assertThat(early).isEmpty();
    assertThat(closed).doesNotContain(new ServerMessage.Versions());
    notStarted.start();
    awaitReach(sender, early);
  }

  @ParameterizedTest
  @EnumSource(NotifierKind.class)
  void a_listener_that_throws_receives_the_next_message(NotifierKind kind) {
    List<ServerMessage> received = new CopyOnWriteArrayList<>();
    started(
        kind,
        message -> {
          received.add(message);
          if (message instanceof ServerMessage.Drain) {
            throw new IllegalStateException("a listener may fail");
          }
        });
    Notifier sender = started(kind, message -> {});
    awaitReach(sender, received);

    sender.publish(new ServerMessage.Drain(WorkerId.next()));
    sender.publish(new ServerMessage.Versions());

    Awaitility.await().atMost(LIMIT).until(() -> received.contains(new ServerMessage.Versions()));
  }

  /** A slow receiver gets one message to refresh everything, so that memory stays bounded. */
  @ParameterizedTest
  @EnumSource(NotifierKind.class)
  void too_many_messages_are_replaced_by_one_for_everything(NotifierKind kind) throws Exception {
    List<ServerMessage> received = new CopyOnWriteArrayList<>();
    CountDownLatch release = new CountDownLatch(1);
    ServerMessage hold = new ServerMessage.Namespace("hold");
    started(
        kind,
        message -> {
          received.add(message);
          if (message.equals(hold)) {
            awaitQuietly(release);
          }
        });
    Notifier sender = started(kind, message -> {});
    awaitReach(sender, received);
    sender.publish(hold);
    Awaitility.await().atMost(LIMIT).until(() -> received.contains(hold));

    RunId last = RunId.next();
    for (int i = 0; i < 20_000; i++) {
      sender.publish(new ServerMessage.Ended(RunId.next()));
    }
    sender.publish(new ServerMessage.Ended(last));
    release.countDown();

    Awaitility.await()
        .atMost(LIMIT)
        .until(
            () ->
                received.contains(new ServerMessage.Ended(last))
                    || received.contains(new ServerMessage.Everything()));
    assertThat(received.size() > 20_000 || received.contains(new ServerMessage.Everything()))
        .isTrue();
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await(LIMIT.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    }
  }
}
