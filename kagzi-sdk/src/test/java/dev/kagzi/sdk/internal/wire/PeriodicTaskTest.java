package dev.kagzi.sdk.internal.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

@NullMarked
class PeriodicTaskTest {
  private static final Logger LOGGER = (Logger) LoggerFactory.getLogger(Connection.class);

  private final ListAppender<ILoggingEvent> logged = new ListAppender<>();
  private final Connection connection =
      new Connection(
          Channels.open(List.of("127.0.0.1:1"), Credentials.NONE, UnaryOperator.identity()),
          "127.0.0.1:1",
          "default",
          Duration.ofSeconds(10));

  @BeforeEach
  void listen() {
    logged.list = new CopyOnWriteArrayList<>();
    logged.start();
    LOGGER.addAppender(logged);
  }

  @AfterEach
  void close() {
    LOGGER.detachAppender(logged);
    connection.close();
  }

  @Test
  void a_task_that_throws_an_error_is_run_again_and_logged_once() {
    AtomicInteger times = new AtomicInteger();

    connection.every(
        1,
        "heartbeat",
        () -> {
          times.incrementAndGet();
          throw new OutOfMemoryError("no thread");
        });

    await().until(() -> times.get() >= 3);
    assertThat(logged.list.stream().filter(line -> line.getLevel() == Level.ERROR))
        .extracting(ILoggingEvent::getFormattedMessage)
        .containsExactly(
            "a periodic task of the client failed, it will be repeated task=heartbeat"
                + " address=127.0.0.1:1");
  }
}
