package dev.kagzi.sdk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.PatternLayout;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** What the worker logs about failures, under a pattern that prints only the message. */
class FailureLogTest extends FakeServerTest {
  private static final String CARD = "4111 1111 1111 1111";

  private final Logger root = (Logger) LoggerFactory.getLogger("dev.kagzi.sdk");
  private final ListAppender<ILoggingEvent> logged = new ListAppender<>();
  private final PatternLayout layout = new PatternLayout();

  @BeforeEach
  void listen() {
    layout.setContext(root.getLoggerContext());
    layout.setPattern("%m%n");
    layout.start();
    logged.start();
    root.addAppender(logged);
  }

  @AfterEach
  void stopListening() {
    root.detachAppender(logged);
  }

  @Test
  void a_failed_run_is_logged_with_its_ids_and_its_exception() {
    Worker worker =
        worker(
                (ctx, name) -> {
                  throw new IllegalStateException("no \"lamp\"\nleft");
                })
            .start();
    RunHandle<String> run = start();

    assertThatThrownBy(() -> run.result(SOON)).isInstanceOf(RunFailedException.class);

    assertThat(awaitLogged("run failed"))
        .startsWith(
            "run failed%s attempt=1 error=\"no \\\"lamp\\\" left\"%n".formatted(ids(run, worker)))
        .contains("java.lang.IllegalStateException: no \"lamp\"")
        .contains("at dev.kagzi.sdk.FailureLogTest");
  }

  @Test
  void with_a_sanitizer_the_log_has_the_recorded_texts_and_the_stacks_of_the_exceptions() {
    worker(
            (ctx, name) -> {
              IllegalStateException refused =
                  new IllegalStateException(
                      "card " + CARD + " refused", new IllegalArgumentException(CARD));
              refused.addSuppressed(new IllegalStateException("also " + CARD));
              throw refused;
            })
        .errorSanitizer(failure -> failure.redacted(text -> text.replace(CARD, "****")))
        .recordStacks(false)
        .start();
    RunHandle<String> run = start();

    assertThatThrownBy(() -> run.result(SOON)).isInstanceOf(RunFailedException.class);

    assertThat(awaitLogged("run failed"))
        .contains("java.lang.IllegalStateException: card **** refused")
        .contains("java.lang.IllegalArgumentException: ****")
        .contains("at dev.kagzi.sdk.FailureLogTest")
        .doesNotContain(CARD);
  }

  @Test
  void an_exception_whose_message_throws_does_not_keep_its_run_from_ending() {
    worker(
            (ctx, name) -> {
              throw new MuteException();
            })
        .start();
    RunHandle<String> run = start();

    assertThatThrownBy(() -> run.result(SOON)).isInstanceOf(RunFailedException.class);

    assertThat(awaitLogged("run failed")).contains("run=" + run.runId());
    await().atMost(SOON).until(() -> kagzi.workers().getFirst().activeCount() == 0);
  }

  @Test
  void a_step_that_fails_is_logged_with_its_run_and_its_exception_at_each_attempt() {
    Worker worker =
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

    String ids = ids(run, worker) + " step=charge attempt=";
    assertThat(awaitLogged("step failed, it will be tried again" + ids + 1))
        .contains("java.lang.IllegalStateException: no")
        .contains("at dev.kagzi.sdk.FailureLogTest");
    assertThat(awaitLogged("step failed, no attempt is left" + ids + 2))
        .contains("java.lang.IllegalStateException: no")
        .contains("at dev.kagzi.sdk.FailureLogTest");
    assertThat(awaitLogged("run failed" + ids(run, worker) + " attempt=1 step=charge error="))
        .contains("step charge failed");
  }

  /** They are sent with the end of the run, which the server accepts. */
  @Test
  void published_values_that_the_server_refuses_are_logged_although_the_run_completes() {
    Worker worker =
        worker(
                (ctx, name) -> {
                  ctx.publish("progress", 1);
                  return name;
                })
            .start();
    RunHandle<String> run = start();

    assertThat(run.result(SOON)).isEqualTo("Ada");

    assertThat(awaitLogged("published values are not stored"))
        .contains(ids(run, worker))
        .contains("the fake server has none");
  }

  @Test
  void a_blocked_run_is_logged_with_its_ids_and_its_exception() {
    Worker worker =
        kagzi
            .worker()
            .workflow(WorkflowType.of("greet", Integer.class, String.class), (ctx, n) -> "")
            .drainTimeout(Duration.ofSeconds(5))
            .start();
    RunHandle<String> run = start();

    assertThat(awaitLogged("run is blocked"))
        .contains(ids(run, worker))
        .contains(PayloadException.class.getName())
        .contains("at dev.kagzi.sdk.");
  }

  /** The first ids of every line about an execution. */
  private static String ids(RunHandle<?> run, Worker worker) {
    return " run=%s type=greet queue=default worker=%s".formatted(run.runId(), worker.workerId());
  }

  /** The line is written after the server's answer, which the test may see earlier. */
  private String awaitLogged(String beginning) {
    await().atMost(SOON).until(() -> lines(beginning).size() > 0);
    return lines(beginning).getFirst();
  }

  private List<String> lines(String beginning) {
    return List.copyOf(logged.list).stream()
        .map(layout::doLayout)
        .filter(line -> line.startsWith(beginning))
        .toList();
  }

  private static final class MuteException extends RuntimeException {
    private static final long serialVersionUID = 1;

    @Override
    public String getMessage() {
      throw new UnsupportedOperationException("mute");
    }
  }
}
