package dev.kagzi.sdk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.read.ListAppender;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Workflow code that blocks outside of its steps is logged. */
class SilentCodeTest extends FakeServerTest {
  private final Logger logger = (Logger) LoggerFactory.getLogger("dev.kagzi.sdk");
  private final ListAppender<ILoggingEvent> logged = new ListAppender<>();
  private final CountDownLatch release = new CountDownLatch(1);
  private final CountDownLatch begun = new CountDownLatch(6);

  @BeforeEach
  void listen() {
    logged.start();
    logger.addAppender(logged);
  }

  @AfterEach
  void stopListening() {
    release.countDown();
    logger.detachAppender(logged);
  }

  private List<ILoggingEvent> warnings() {
    return List.copyOf(logged.list).stream()
        .filter(event -> event.getFormattedMessage().contains("nor used its context for 5 s"))
        .toList();
  }

  private String code(WorkflowContext ctx, String what) throws InterruptedException {
    begun.countDown();
    switch (what) {
      case "blocks" -> blockHere();
      case "branch blocks" ->
          ctx.parallel(
              "p",
              List.of(1),
              (branch, one) -> {
                blockHere();
                return one;
              });
      case "clean-up blocks" -> ctx.cleanup("unlock", own -> blockUninterrupted());
      case "step" -> ctx.step("long", () -> release.await());
      case "sleep" ->
          ctx.parallel(
              "p",
              List.of(1, 2),
              (branch, one) -> {
                branch.step("long", () -> release.await());
                return one;
              });
      // The answer is held back.
      case "report" -> {
        ctx.step("one", () -> {});
        ctx.step("two", () -> {});
      }
      default -> throw new AssertionError(what);
    }
    return what;
  }

  private void blockHere() throws InterruptedException {
    release.await();
  }

  private void blockUninterrupted() {
    try {
      blockHere();
    } catch (InterruptedException stopped) {
      throw new AssertionError(stopped);
    }
  }

  @Test
  void code_that_blocks_outside_of_steps_is_logged_with_its_stack_and_other_code_is_not()
      throws Exception {
    server.hold("Report");
    worker(this::code).start();
    for (String what : List.of("step", "sleep", "report")) {
      kagzi.workflow(GREET).start(what);
    }
    RunHandle<String> blocks = kagzi.workflow(GREET).start("blocks");
    RunHandle<String> branch = kagzi.workflow(GREET).start("branch blocks");
    RunHandle<String> cleanUp = kagzi.workflow(GREET).start("clean-up blocks");
    begun.await();

    await().atMost(Duration.ofSeconds(60)).until(() -> warnings().size() >= 3);

    assertThat(warnings())
        .extracting(event -> event.getFormattedMessage().replaceAll(".* run=(\\S+).*", "$1"))
        .containsExactlyInAnyOrder(blocks.runId(), branch.runId(), cleanUp.runId());
    assertThat(warnings())
        .allSatisfy(
            event ->
                assertThat(ThrowableProxyUtil.asString(event.getThrowableProxy()))
                    .contains("SilentCodeTest.blockHere"));
  }
}
