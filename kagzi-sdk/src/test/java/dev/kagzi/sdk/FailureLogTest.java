package dev.kagzi.sdk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.time.Duration;
import java.util.ArrayList;
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

    List<ILoggingEvent> failures = awaitLogged("run failed");
    assertThat(failures.get(0).getKeyValuePairs().toString())
        .contains("card **** refused")
        .contains("FailureLogTest")
        .doesNotContain(CARD);
    assertThat(failures.get(0).getThrowableProxy()).isNull();
  }

  @Test
  void a_failed_step_is_logged_with_its_run() {
    worker(
            (ctx, name) -> {
              ctx.step("charge")
                  .retry(Retry.fixed(2, Duration.ofMillis(1)))
                  .run(
                      () -> {
                        throw new IllegalStateException("no");
                      });
              return name;
            })
        .start();
    RunHandle<String> run = start();

    assertThatThrownBy(() -> run.result(SOON)).isInstanceOf(RunFailedException.class);

    assertThat(awaitLogged("step failed, it will be tried again").get(0).getKeyValuePairs())
        .anyMatch(pair -> pair.key.equals("run") && run.runId().equals(pair.value));
  }

  /** It is written when the server has answered, which somebody else may hear before. */
  private List<ILoggingEvent> awaitLogged(String message) {
    List<ILoggingEvent> found = new ArrayList<>();
    await()
        .atMost(SOON)
        .until(
            () -> {
              found.clear();
              for (ILoggingEvent event : List.copyOf(logged.list)) {
                if (event.getMessage().equals(message)) {
                  found.add(event);
                }
              }
              return !found.isEmpty();
            });
    assertThat(found).hasSize(1);
    return found;
  }
}
