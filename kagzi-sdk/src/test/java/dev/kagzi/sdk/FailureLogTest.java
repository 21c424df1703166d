package dev.kagzi.sdk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** What the worker's log says of failures (R66). */
class FailureLogTest extends FakeServerTest {
  private static final String CARD = "4111 1111 1111 1111";

  private final Logger root = (Logger) LoggerFactory.getLogger("dev.kagzi.sdk");
  private final ListAppender<ILoggingEvent> logged = new ListAppender<>();

  @BeforeEach
  void listen() {
    logged.start();
    root.addAppender(logged);
  }

  @AfterEach
  void stopListening() {
    root.detachAppender(logged);
  }

  @Test
  void a_failed_run_is_logged_as_it_is_recorded_without_what_the_sanitizer_keeps_out() {
    worker(
            (ctx, name) -> {
              throw new IllegalStateException("card " + CARD + " refused");
            })
        .errorSanitizer(failure -> failure.redacted(text -> text.replace(CARD, "****")))
        .start();
    RunHandle<String> run = start();

    assertThatThrownBy(() -> run.result(SOON)).isInstanceOf(RunFailedException.class);

    List<ILoggingEvent> failures =
        List.copyOf(logged.list).stream()
            .filter(event -> event.getMessage().equals("run failed"))
            .toList();
    assertThat(failures).hasSize(1);
    assertThat(failures.get(0).getKeyValuePairs().toString())
        .contains("card **** refused")
        .contains("FailureLogTest")
        .doesNotContain(CARD);
    assertThat(failures.get(0).getThrowableProxy()).isNull();
  }
}
