package dev.kagzi.sdk.internal.log;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class TelemetryGuardTest {
  private static final Logger LOGGER = (Logger) LoggerFactory.getLogger(TelemetryGuard.class);

  private final ListAppender<ILoggingEvent> logged = new ListAppender<>();
  private final TelemetryGuard guard = new TelemetryGuard("metrics");

  @BeforeEach
  void listen() {
    logged.start();
    LOGGER.addAppender(logged);
  }

  @AfterEach
  void listenNoMore() {
    LOGGER.detachAppender(logged);
  }

  private static Integer fail() {
    throw new NoSuchMethodError("of another version");
  }

  @Test
  void exceptions_and_errors_end_here_and_are_logged_once_for_each_call() {
    for (int i = 0; i < 3; i++) {
      guard.run("run ended", TelemetryGuardTest::fail);
      assertThat(guard.get("worker started", TelemetryGuardTest::fail, 7)).isEqualTo(7);
    }

    assertThat(logged.list.stream().filter(line -> line.getLevel() == Level.WARN))
        .extracting(ILoggingEvent::getFormattedMessage)
        .containsExactly(
            "the application's metrics threw an exception, which is ignored call=\"run ended\"",
            "the application's metrics threw an exception, which is ignored call=\"worker started\"");
    assertThat(logged.list.getFirst().getThrowableProxy().getMessage())
        .isEqualTo("of another version");
  }

  @Test
  void a_call_that_does_not_throw_returns_its_value() {
    assertThat(guard.get("worker started", () -> 3, 7)).isEqualTo(3);
    assertThat(logged.list).isEmpty();
  }
}
