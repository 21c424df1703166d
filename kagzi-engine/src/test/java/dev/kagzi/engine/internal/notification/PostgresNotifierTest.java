package dev.kagzi.engine.internal.notification;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.thread.EssentialThreads;
import dev.kagzi.engine.value.RunId;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Messages over LISTEN and NOTIFY. */
class PostgresNotifierTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final String LISTENERS =
      "FROM pg_stat_activity WHERE datname = current_database() AND query IN"
          + " ('LISTEN kagzi_work', 'SELECT 1') AND pid <> pg_backend_pid()";

  private final BlockingQueue<ServerMessage> received = new LinkedBlockingQueue<>();
  private final EssentialThreads threads = new EssentialThreads();
  private PostgresNotifier one;
  private PostgresNotifier other;

  @BeforeEach
  void open() {
    one = new PostgresNotifier(database.open(), RunId.next().value(), this::onMessage, threads);
    other = new PostgresNotifier(database.open(), RunId.next().value(), message -> {}, threads);
    other.setOtherServers(1, System.nanoTime());
  }

  @AfterEach
  void close() {
    one.close();
    other.close();
    assertThat(isAnyThreadAlive()).isFalse();
    Awaitility.await().until(() -> listeners() == 0);
    // The loops end because their notifier was closed, which is no failure.
    assertThat(threads.failure()).isEmpty();
  }

  private static boolean isAnyThreadAlive() {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().startsWith("kagzi-notifier-"));
  }

  private void onMessage(ServerMessage message) {
    received.add(message);
    if (message instanceof ServerMessage.Everything) {
      throw new IllegalStateException("a refresh may fail");
    }
  }

  private static long listeners() {
    return database.run(
        session ->
            session
                .query("SELECT count(*) AS value " + LISTENERS)
                .first(row -> row.bigint("value"))
                .orElseThrow());
  }

  /**
   * A server may start and announce itself while another server counts. Then the count is older
   * than the announcement and must not replace it.
   */
  @Test
  void an_older_count_of_servers_does_not_replace_a_newer_one() throws Exception {
    one.start();
    other.start();

    other.setOtherServers(0, System.nanoTime() - TimeUnit.MINUTES.toNanos(1));
    other.publish(new ServerMessage.Versions());

    assertThat(received.poll(10, TimeUnit.SECONDS)).isEqualTo(new ServerMessage.Versions());
  }

  /**
   * Otherwise it would miss the message of a server that starts after it has counted the others.
   */
  @Test
  void a_server_that_has_started_listens() {
    one.start();

    assertThat(listeners()).isEqualTo(1);
  }

  @Test
  void a_server_that_began_to_listen_after_its_start_refreshes_everything() throws Exception {
    // Ends the wait for the listener.
    Thread.currentThread().interrupt();

    one.start();

    assertThat(Thread.interrupted()).isTrue();
    assertThat(received.poll(10, TimeUnit.SECONDS)).isEqualTo(new ServerMessage.Everything());
  }

  /** Before that, the objects that receive its messages may not exist. */
  @Test
  void nothing_is_received_before_start() throws Exception {
    assertThat(listeners()).isZero();
    one.start();
    other.start();

    other.publish(new ServerMessage.Versions());

    assertThat(received.poll(10, TimeUnit.SECONDS)).isEqualTo(new ServerMessage.Versions());
  }

  @Test
  void a_listener_that_fails_to_refresh_after_a_reconnect_receives_the_next_message()
      throws Exception {
    one.start();
    database.execute("SELECT pg_terminate_backend(pid) " + LISTENERS);
    assertThat(received.poll(10, TimeUnit.SECONDS)).isEqualTo(new ServerMessage.Everything());
    other.start();

    other.publish(new ServerMessage.Versions());

    assertThat(received.poll(10, TimeUnit.SECONDS)).isEqualTo(new ServerMessage.Versions());
  }
}
