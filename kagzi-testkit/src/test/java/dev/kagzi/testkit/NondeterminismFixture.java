package dev.kagzi.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkerBuilder;
import dev.kagzi.sdk.Workflow;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;

/** Executes a run with one code, and continues it with another. */
@ExtendWith(KagziExtension.class)
abstract class NondeterminismFixture {
  static final WorkflowType<String, String> TYPE =
      WorkflowType.of("order", String.class, String.class).queue("q");

  static final WorkflowType<String, String> PART =
      WorkflowType.of("part", String.class, String.class).queue("q");

  final Logger logger = (Logger) org.slf4j.LoggerFactory.getLogger("dev.kagzi.sdk");
  final ListAppender<ILoggingEvent> logged = new ListAppender<>();
  final AtomicInteger random = new AtomicInteger();

  @BeforeEach
  void listen() {
    logged.start();
    logger.addAppender(logged);
  }

  @AfterEach
  void stopListening() {
    logger.detachAppender(logged);
  }

  List<String> warnings() {
    return List.copyOf(logged.list).stream()
        .map(ILoggingEvent::getFormattedMessage)
        .filter(message -> message.contains("does not do what it did before"))
        .toList();
  }

  static void step(WorkflowContext ctx, String... names) {
    for (String name : names) {
      ctx.step(name, () -> {});
    }
  }

  static void sleepOneDay(WorkflowContext ctx, String name) {
    ctx.sleep(name, Duration.ofDays(1));
  }

  WorkerBuilder worker(KagziEnv env, Workflow<String, String> code) {
    return env.worker()
        .workflow(TYPE, code)
        .workflow(
            PART,
            (ctx, name) -> {
              sleepOneDay(ctx, "part");
              return name;
            });
  }

  /** Executes the run until its next suspension with this code, in a new worker. */
  void runOneDay(KagziEnv env, Workflow<String, String> code) {
    try (Worker worker = worker(env, code).start()) {
      env.advance(Duration.ofMinutes(30));
      assertThat(worker.isRegistered()).isTrue();
    }
    env.advance(Duration.ofDays(1));
  }

  RunHandle<String> start(KagziEnv env) {
    return env.kagzi().workflow(TYPE).start("");
  }
}
