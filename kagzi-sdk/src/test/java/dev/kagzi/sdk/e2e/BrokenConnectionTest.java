package dev.kagzi.sdk.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.protocol.v1.DeregisterRequest;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Worker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class BrokenConnectionTest extends RealServerTest {

  @Test
  void runs_complete_over_a_connection_that_is_cut_repeatedly() {
    Map<String, AtomicInteger> executions = new ConcurrentHashMap<>();
    try (TcpProxy proxy = new TcpProxy(server.port());
        Kagzi shaky = Kagzi.connect(proxy.address())) {
      shaky
          .worker()
          .workflow(
              type,
              (ctx, name) -> {
                int sum = 0;
                for (int i = 0; i < 5; i++) {
                  int n = i;
                  String key = name + "/" + n;
                  sum +=
                      ctx.step(
                          "add",
                          Integer.class,
                          () -> {
                            executions
                                .computeIfAbsent(key, unused -> new AtomicInteger())
                                .incrementAndGet();
                            return n;
                          });
                }
                return "" + sum;
              })
          .start();
      List<RunHandle<String>> runs = new ArrayList<>();
      for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 20; i++) {
          runs.add(shaky.workflow(type).start(round + "-" + i));
        }
        proxy.cut();
      }

      runs.forEach(run -> assertThat(run.result(SOON)).isEqualTo("10"));
    }
    assertThat(executions).hasSize(200 * 5);
  }

  @Test
  void an_unreachable_worker_loses_its_run_and_stops_it() throws Exception {
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    AtomicInteger firstSteps = new AtomicInteger();
    try (TcpProxy proxy = new TcpProxy(server.port());
        Kagzi cutOff = Kagzi.connect(proxy.address())) {
      cutOff
          .worker()
          .workflow(
              type,
              (ctx, name) -> {
                ctx.step("first", () -> firstSteps.incrementAndGet());
                ctx.step(
                    "second",
                    () -> {
                      running.countDown();
                      try {
                        new CountDownLatch(1).await();
                      } catch (InterruptedException e) {
                        interrupted.countDown();
                        throw e;
                      }
                    });
                return "cut off";
              })
          .start();
      RunHandle<String> run = kagzi.workflow(type).start("Ada");
      assertThat(running.await(10, TimeUnit.SECONDS)).isTrue();

      proxy.shut();
      kagzi
          .worker()
          .workflow(
              type,
              (ctx, name) -> {
                ctx.step("first", () -> firstSteps.incrementAndGet());
                ctx.step("second", () -> {});
                return "taken over";
              })
          .start();

      assertThat(run.result(SOON)).isEqualTo("taken over");
      assertThat(firstSteps).as("the first step's result was recorded").hasValue(1);
      proxy.reopen();
      assertThat(interrupted.await(20, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void a_worker_that_was_declared_offline_registers_again() throws Exception {
    Worker worker = kagzi.worker().workflow(type, (ctx, name) -> "Hello " + name).start();
    assertThat(worker.awaitRegistered(SOON)).isTrue();
    String former = worker.workerId();

    server.workers().deregister(DeregisterRequest.newBuilder().setWorkerId(former).build());

    assertThat(kagzi.workflow(type).start("Ada").result(SOON)).isEqualTo("Hello Ada");
    assertThat(worker.workerId()).isNotEqualTo(former);
  }

  @Test
  void runs_continue_after_a_restart_of_the_server() throws Exception {
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    AtomicInteger executions = new AtomicInteger();
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) -> {
              ctx.step("first", () -> executions.incrementAndGet());
              ctx.step(
                  "second",
                  () -> {
                    running.countDown();
                    end.await();
                  });
              return ctx.step("third", String.class, () -> "through");
            })
        .start();
    RunHandle<String> run = kagzi.workflow(type).start("Ada");
    assertThat(running.await(10, TimeUnit.SECONDS)).isTrue();

    server.restart();
    end.countDown();

    assertThat(run.result(SOON)).isEqualTo("through");
    assertThat(executions).hasValue(1);
  }

  @Test
  void a_drained_worker_finishes_its_run_and_another_takes_the_next() throws Exception {
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    try (Kagzi first = Kagzi.connect(server.address())) {
      Worker worker =
          first
              .worker()
              .workflow(
                  type,
                  (ctx, name) -> {
                    running.countDown();
                    end.await();
                    return "first";
                  })
              .start();
      RunHandle<String> run = kagzi.workflow(type).start("Ada");
      assertThat(running.await(10, TimeUnit.SECONDS)).isTrue();
      worker.shutdown();
      kagzi.worker().workflow(type, (ctx, name) -> "second").start();

      assertThat(kagzi.workflow(type).start("Bob").result(SOON)).isEqualTo("second");
      assertThat(run.status()).isEqualTo(RunStatus.RUNNING);
      end.countDown();

      assertThat(run.result(SOON)).isEqualTo("first");
      assertThat(worker.awaitTermination(SOON)).isTrue();
    }
  }

  @Test
  void a_run_that_exceeds_the_drain_timeout_continues_on_another_worker_at_once() throws Exception {
    CountDownLatch running = new CountDownLatch(1);
    AtomicInteger firstSteps = new AtomicInteger();
    RunHandle<String> run;
    try (Kagzi first = Kagzi.connect(server.address())) {
      Worker worker =
          first
              .worker()
              .workflow(
                  type,
                  (ctx, name) -> {
                    ctx.step("first", () -> firstSteps.incrementAndGet());
                    ctx.step(
                        "second",
                        () -> {
                          running.countDown();
                          new CountDownLatch(1).await();
                        });
                    return "first";
                  })
              .drainTimeout(Duration.ofMillis(100))
              .start();
      run = kagzi.workflow(type).start("Ada");
      assertThat(running.await(10, TimeUnit.SECONDS)).isTrue();
      worker.close();
    }
    await().until(() -> run.status() == RunStatus.PENDING);

    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) -> {
              ctx.step("first", () -> firstSteps.incrementAndGet());
              return "second";
            })
        .start();

    assertThat(run.result(Duration.ofSeconds(3))).isEqualTo("second");
    assertThat(firstSteps).hasValue(1);
  }
}
