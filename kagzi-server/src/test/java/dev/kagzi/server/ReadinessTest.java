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
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ReadinessTest {

  @Test
  void whoever_asks_while_the_database_is_asked_gets_the_same_answer() throws Exception {
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
        });
    readiness.accepting();

    List<Future<Optional<String>>> answers = new ArrayList<>();
    try (ExecutorService strangers = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 200; i++) {
        answers.add(strangers.submit(readiness::trouble));
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
  void a_server_that_stops_says_so_whatever_the_database_said_before() {
    Readiness readiness = new Readiness();
    readiness.engineStarted(Optional::empty);
    readiness.accepting();
    assertThat(readiness.trouble()).isEmpty();

    readiness.stopping();

    assertThat(readiness.trouble()).hasValue("stopping");
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
