package dev.kagzi.sdk.internal.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.kagzi.sdk.jdbc.RelayProblem;
import dev.kagzi.sdk.jdbc.RelayProblem.Kind;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class RelayProblemsTest {
  private final AtomicLong nanos = new AtomicLong();
  private final RelayProblems problems = new RelayProblems("orders", nanos::get);
  private final ListAppender<ILoggingEvent> logged = new ListAppender<>();
  private final Logger logger = (Logger) LoggerFactory.getLogger(OutboxPump.class);

  @BeforeEach
  void record() {
    logged.start();
    logger.addAppender(logged);
  }

  @AfterEach
  void stop() {
    logger.detachAppender(logged);
  }

  @Test
  void a_problem_is_logged_when_it_begins_once_a_minute_and_when_it_is_over() {
    // A failure every 10 s, for 130 s.
    for (int i = 0; i < 14; i++) {
      problems.failed(Kind.OUTBOX_UNREADABLE, new IllegalStateException("no table " + i));
      nanos.addAndGet(TimeUnit.SECONDS.toNanos(10));
    }
    RelayProblem problem = problems.list().getFirst();
    problems.over(Kind.OUTBOX_UNREADABLE);
    problems.over(Kind.OUTBOX_UNREADABLE);

    assertThat(problem.count()).isEqualTo(14);
    assertThat(problem.reason()).contains("no table 13");
    assertThat(problems.list()).isEmpty();
    assertThat(logged.list)
        .extracting(line -> line.getLevel() + " " + line.getFormattedMessage())
        .hasSize(4)
        .satisfiesExactly(
            line ->
                assertThat(line).startsWith("WARN the outbox cannot be read").contains("table 0"),
            line -> assertThat(line).startsWith("WARN the outbox cannot").contains("count=7"),
            line -> assertThat(line).startsWith("WARN the outbox cannot").contains("count=13"),
            line ->
                assertThat(line).startsWith("INFO over: the outbox").contains("namespace=orders"));
  }
}
