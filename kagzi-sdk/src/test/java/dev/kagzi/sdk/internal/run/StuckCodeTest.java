package dev.kagzi.sdk.internal.run;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.sdk.internal.log.LoggedRun;
import dev.kagzi.sdk.internal.report.Reporter;
import dev.kagzi.sdk.internal.trace.ExecutionTrace;
import dev.kagzi.sdk.internal.wire.Channels;
import dev.kagzi.sdk.internal.wire.Connection;
import dev.kagzi.sdk.internal.wire.Credentials;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class StuckCodeTest {
  private static final Logger LOGGER = (Logger) LoggerFactory.getLogger(StuckCode.class);

  private final ListAppender<ILoggingEvent> warnings = new ListAppender<>();

  @BeforeEach
  void attachAppender() {
    warnings.start();
    LOGGER.addAppender(warnings);
  }

  @AfterEach
  void detachAppender() {
    LOGGER.detachAppender(warnings);
  }

  @Test
  void stuck_code_is_logged_with_its_stack_at_once_and_again_after_a_minute() {
    try (Connection unreachable =
        new Connection(
            Channels.open(List.of("127.0.0.1:1"), Credentials.NONE, UnaryOperator.identity()),
            "127.0.0.1:1",
            "default",
            Duration.ZERO)) {
      Task task = Task.newBuilder().setRunId("run-1").setEpoch(1).build();
      Thread here = Thread.currentThread();
      LoggedRun run = new LoggedRun("run-1", "", "greet", "orders", "worker-1", "");
      RunExecutionState state =
          new RunExecutionState(
              new Reporter(unreachable, () -> "").lane(run, 1), task, ExecutionTrace.OFF, run);
      WorkflowThread workflowThread = state.open(here, null);
      StuckCode stuck = new StuckCode(run);
      long now = System.nanoTime();

      stuck.warn(workflowThread, now);
      stuck.warn(workflowThread, now + TimeUnit.SECONDS.toNanos(59));
      stuck.warn(workflowThread, now + TimeUnit.SECONDS.toNanos(60));

      assertThat(warnings.list).hasSize(2);
      assertThat(warnings.list.getLast().getFormattedMessage())
          .contains("run=run-1 type=greet queue=orders worker=worker-1 step=")
          .contains("at=\"java.base/java.lang.Thread.getStackTrace");
    }
  }
}
