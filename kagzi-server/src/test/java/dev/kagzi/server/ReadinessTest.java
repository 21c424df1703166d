package dev.kagzi.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ReadinessTest {

  @Test
  void callers_during_a_database_check_share_its_answer() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    CountDownLatch underWay = new CountDownLatch(1);
    CountDownLatch gate = new CountDownLatch(1);
    Readiness readiness = new Readiness();
    readiness.engineStarted(
        () -> {
          asked.incrementAndGet();
          underWay.countDown();
          await(gate);
          return Optional.of("away");
        },
        () -> false);
    readiness.accepting();

    List<Future<Optional<String>>> answers = new ArrayList<>();
    try (ExecutorService strangers = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 200; i++) {
        answers.add(strangers.submit(readiness::notReadyReason));
      }
      await(underWay);
      gate.countDown();
      for (Future<Optional<String>> answer : answers) {
        assertThat(answer.get(10, TimeUnit.SECONDS)).hasValue("away");
      }
    }

    assertThat(asked).hasValue(1);
  }

  @Test
  void a_stopping_server_reports_it_even_if_the_database_was_ready() {
    Readiness readiness = new Readiness();
    readiness.engineStarted(Optional::empty, () -> true);
    readiness.accepting();
    assertThat(readiness.notReadyReason()).isEmpty();

    readiness.stopping();

    assertThat(readiness.notReadyReason()).hasValue("stopping");
    assertThat(readiness.notReadyReasonLately()).hasValue("stopping");
  }

  @Test
  void a_check_that_repeats_queries_the_database_only_if_no_statement_has_worked_lately() {
    AtomicBoolean workedLately = new AtomicBoolean(true);
    Readiness readiness = new Readiness();
    readiness.engineStarted(() -> Optional.of("away"), workedLately::get);
    readiness.accepting();
    assertThat(readiness.notReadyReasonLately()).isEmpty();

    workedLately.set(false);

    assertThat(readiness.notReadyReasonLately()).hasValue("away");
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
