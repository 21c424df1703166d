package dev.kagzi.sdk.internal.log;

import static org.assertj.core.api.Assertions.assertThatCode;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class EventLogTest {
  private static final Logger LOGGER = (Logger) LoggerFactory.getLogger(EventLogTest.class);

  private final AppenderBase<ILoggingEvent> broken =
      new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
          throw new NoClassDefFoundError("broken appender");
        }
      };

  @BeforeEach
  void listen() {
    broken.start();
    LOGGER.addAppender(broken);
  }

  @AfterEach
  void listenNoMore() {
    LOGGER.detachAppender(broken);
  }

  @Test
  void an_error_of_the_application_s_log_does_not_reach_the_caller() {
    EventLog log = EventLog.of(EventLogTest.class);

    assertThatCode(() -> log.warn("worker registered").with("worker", 1).write())
        .doesNotThrowAnyException();
  }
}
