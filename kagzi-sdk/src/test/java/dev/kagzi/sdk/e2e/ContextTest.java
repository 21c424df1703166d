package dev.kagzi.sdk.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import ch.qos.logback.core.read.ListAppender;
import dev.kagzi.protocol.v1.GetWorkflowRequest;
import dev.kagzi.protocol.v1.Step;
import dev.kagzi.sdk.AesGcmTransform;
import dev.kagzi.sdk.ClientInterceptor;
import dev.kagzi.sdk.GzipTransform;
import dev.kagzi.sdk.JacksonCodec;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.StepContext;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkerInterceptor;
import dev.kagzi.sdk.WorkflowContext;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** The workflow context, step contexts and interceptors. */
class ContextTest extends RealServerTest {
  private final List<String> log = new CopyOnWriteArrayList<>();
  private final AtomicInteger executions = new AtomicInteger();

  @Test
  void the_logger_is_silent_during_replay_and_keys_are_stable_over_retries() {
    Logger logger = (Logger) LoggerFactory.getLogger("kagzi.workflow.greet");
    ListAppender<ILoggingEvent> events = new ListAppender<>();
    events.start();
    logger.addAppender(events);
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) -> {
              ctx.logger().info("begins for {}", name);
              ctx.step("first")
                  .retry(Retry.fixed(3, Duration.ofMillis(10)))
                  .execute(
                      String.class,
                      step -> {
                        log.add(step.idempotencyKey() + " " + step.attempt());
                        if (step.attempt() < 3) {
                          throw new IllegalStateException("again");
                        }
                        return step.step();
                      });
              ctx.logger().info("between");
              ctx.sleep("nap", Duration.ofMillis(1_100));
              ctx.logger().info("after");
              return ctx.namespace() + " " + ctx.queue();
            })
        .start();
    RunHandle<String> run = kagzi.workflow(type).start("Ada");

    assertThat(run.result(SOON)).isEqualTo("default " + queue);
    logger.detachAppender(events);
    assertThat(events.list)
        .extracting(ILoggingEvent::getFormattedMessage)
        .containsExactly("begins for Ada", "between", "after");
    String key = run.runId() + "/first";
    assertThat(log).containsExactly(key + " 1", key + " 2", key + " 3");
  }

  @Test
  void lines_of_workflow_branch_and_step_code_have_the_ids_of_what_they_are_about()
      throws Exception {
    Logger logger = (Logger) LoggerFactory.getLogger("kagzi.workflow.greet");
    Map<String, Map<String, String>> lines = new ConcurrentHashMap<>();
    AppenderBase<ILoggingEvent> appender =
        new AppenderBase<>() {
          @Override
          protected void append(ILoggingEvent event) {
            lines.put(event.getFormattedMessage(), Map.copyOf(event.getMDCPropertyMap()));
          }
        };
    appender.start();
    logger.addAppender(appender);
    Worker worker =
        kagzi
            .worker()
            .workflow(
                type,
                (ctx, name) -> {
                  ctx.logger().info("code");
                  ctx.step(
                      "pay",
                      String.class,
                      () -> {
                        logger.info("step");
                        return name;
                      });
                  ctx.logger().info("after the step");
                  ctx.parallel("pack")
                      .each(
                          List.of("one"),
                          (branch, item) -> {
                            branch.logger().info("branch");
                            return item;
                          });
                  return name;
                })
            .start();
    RunHandle<String> run = kagzi.workflow(type).start("Ada");

    assertThat(run.result(SOON)).isEqualTo("Ada");
    logger.detachAppender(appender);
    Map<String, String> ofRun =
        Map.of("run", run.runId(), "type", "greet", "queue", queue, "worker", worker.workerId());
    Map<String, String> ofStep = new HashMap<>(ofRun);
    ofStep.putAll(Map.of("step", "pay", "attempt", "1"));
    assertThat(lines)
        .containsEntry("code", ofRun)
        .containsEntry("step", ofStep)
        .containsEntry("after the step", ofRun)
        .containsEntry("branch", ofRun);
  }

  @Test
  void progress_survives_to_the_next_attempt_in_place_and_in_another_claim() {
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) ->
                ctx.step("copy")
                    .retry(Retry.fixed(3, Duration.ofMillis(1_200)).jitter(false))
                    .execute(
                        String.class,
                        step -> {
                          int from = step.lastProgress(Integer.class).orElse(0);
                          log.add(step.attempt() + " from " + from);
                          if (step.attempt() == 3) {
                            return "" + from;
                          }
                          if (step.attempt() == 1) {
                            step.heartbeat(from + 10);
                          }
                          throw new IllegalStateException("cut off");
                        }))
        .start();

    assertThat(kagzi.workflow(type).start("Ada").result(SOON)).isEqualTo("10");
    assertThat(log).containsExactly("1 from 0", "2 from 10", "3 from 10");
  }

  @Test
  void progress_of_a_step_that_runs_is_stored_while_it_runs() {
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) ->
                ctx.step("copy")
                    .execute(
                        String.class,
                        step -> {
                          int from = step.lastProgress(Integer.class).orElse(0);
                          if (from > 0) {
                            return "from " + from;
                          }
                          step.heartbeat(7);
                          await().atMost(SOON).until(() -> hasProgress(ctx));
                          forceOffline(ctx);
                          Thread.sleep(30_000);
                          return "never";
                        }))
        .start();

    assertThat(kagzi.workflow(type).start("Ada").result(SOON)).isEqualTo("from 7");
  }

  // The started report that contains the progress is the only record of the step.
  private static boolean hasProgress(WorkflowContext ctx) {
    return !server.steps(ctx.runId()).isEmpty();
  }

  private void forceOffline(WorkflowContext ctx) {
    server
        .admin()
        .forceOfflineWorker(
            dev.kagzi.protocol.v1.ForceOfflineWorkerRequest.newBuilder()
                .setWorkerId(kagzi.get(ctx.runId()).workerId().orElseThrow())
                .setReason("test")
                .build());
  }

  @Test
  void a_steps_input_is_stored_and_another_one_on_replay_blocks_the_run() {
    kagzi
        .worker()
        .workflow(
            type,
            (ctx, name) -> {
              int given = executions.incrementAndGet() == 1 ? 1 : 2;
              ctx.step("charge").input(Map.of("amount", given)).run(() -> {});
              ctx.sleep("nap", Duration.ofMillis(1_100));
              return "done";
            })
        .start();
    RunHandle<String> run = kagzi.workflow(type).start("Ada");

    await().atMost(SOON).until(() -> run.info().failure().isPresent());

    assertThat(run.info().failure().orElseThrow().message()).contains("charge", "another input");
    assertThat(run.info().failure().orElseThrow().metadata())
        .containsEntry("code", "STEP_INPUT_CHANGED");
    Step step = server.steps(run.runId()).get(0);
    assertThat(step.getInput().getData().toStringUtf8()).isEqualTo("{\"amount\":1}");
    run.cancel();
  }

  @Test
  void interceptors_intercept_starts_runs_and_steps_in_order() {
    ClientInterceptor client =
        new ClientInterceptor() {
          @Override
          public CompletableFuture<String> start(
              Start start, Supplier<CompletableFuture<String>> next) {
            log.add("start " + start.type() + " " + start.workflowId());
            return next.get();
          }
        };
    try (Kagzi own = Kagzi.builder().address(server.address()).interceptor(client).connect()) {
      own.worker()
          .workflow(type, (ctx, name) -> ctx.step("hello", String.class, () -> "hello " + name))
          .interceptor(new Tracing("outer"))
          .interceptor(new Tracing("inner"))
          .start();

      assertThat(own.workflow(type).id("traced").start("Ada").result(SOON)).isEqualTo("hello Ada");
    }
    assertThat(log)
        .containsExactly(
            "start greet traced",
            "outer run",
            "inner run",
            "outer step hello",
            "inner step hello",
            "inner step over",
            "outer step over",
            "inner run over",
            "outer run over");
  }

  private final class Tracing implements WorkerInterceptor {
    private final String name;

    Tracing(String name) {
      this.name = name;
    }

    @Override
    public @Nullable Object run(WorkflowContext ctx, Callable<@Nullable Object> next)
        throws Exception {
      log.add(name + " run");
      Object result = next.call();
      log.add(name + " run over");
      return result;
    }

    @Override
    public @Nullable Object step(StepContext step, Callable<@Nullable Object> next)
        throws Exception {
      log.add(name + " step " + step.step());
      Object result = next.call();
      log.add(name + " step over");
      return result;
    }
  }

  @Test
  void with_an_encrypting_codec_the_server_never_sees_plain_data() {
    byte[] key = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
    String secret = "secret ".repeat(1_000);
    try (Kagzi own =
        Kagzi.builder()
            .address(server.address())
            .codec(new JacksonCodec().then(new GzipTransform(), new AesGcmTransform("k1", key)))
            .connect()) {
      own.worker()
          .workflow(
              type,
              (ctx, name) -> {
                String all = ctx.step("join").input(name).run(String.class, () -> name + "!");
                ctx.sleep("nap", Duration.ofMillis(1_100));
                return all;
              })
          .start();
      RunHandle<String> run = own.workflow(type).start(secret);

      assertThat(run.result(SOON)).isEqualTo(secret + "!");
      dev.kagzi.protocol.v1.Workflow stored =
          server
              .workflows()
              .getWorkflow(GetWorkflowRequest.newBuilder().setRunId(run.runId()).build())
              .getWorkflow();
      assertThat(stored.toString()).doesNotContain("secret");
      assertThat(stored.getInput().getData().size()).as("compressed").isLessThan(500);
      assertThat(stored.getInput().getMetadataMap()).containsEntry("kagzi-key-id", "k1");
      assertThat(server.steps(run.runId()).toString()).doesNotContain("secret");
    }
  }

  /** Counts the calls while a run with ten thousand steps is replayed. */
  @Test
  void ten_thousand_steps_are_replayed_with_one_poll_and_no_call_per_step() {
    int steps = 10_000;
    String value = "x".repeat(100);
    Map<String, AtomicInteger> calls = new ConcurrentHashMap<>();
    AtomicLong bytes = new AtomicLong();
    AtomicInteger lives = new AtomicInteger();
    AtomicInteger reportsOfFirstLife = new AtomicInteger();
    try (Kagzi own =
        Kagzi.builder()
            .address(server.address())
            .grpcInterceptor(new Counting(calls, bytes))
            .connect()) {
      own.worker()
          .workflow(
              type,
              (ctx, name) -> {
                // Concurrent, because that is faster.
                ctx.parallel(
                    "lane",
                    IntStream.range(0, 20).boxed().toList(),
                    (branch, lane) -> {
                      for (int i = 0; i < steps / 20; i++) {
                        branch.step(
                            "step",
                            String.class,
                            () -> {
                              executions.incrementAndGet();
                              return value;
                            });
                      }
                      return lane;
                    });
                if (lives.incrementAndGet() == 1) {
                  // All earlier steps are recorded when the last one begins.
                  ctx.step("last", () -> {});
                  reportsOfFirstLife.set(count(calls, "Report"));
                  calls.clear();
                  bytes.set(0);
                  forceOffline(ctx);
                  Thread.sleep(60_000);
                }
                return "done";
              })
          .start();
      RunHandle<String> run = own.workflow(type).start("Ada");

      assertThat(run.result(Duration.ofMinutes(2))).isEqualTo("done");
      assertThat(executions).as("each step once").hasValue(steps);
      assertThat(reportsOfFirstLife).as("reports are counted").hasPositiveValue();
      assertThat(count(calls, "GetHistory")).isLessThan(2);
      assertThat(count(calls, "Report")).isLessThan(10);
      assertThat(calls.keySet().stream().mapToInt(name -> count(calls, name)).sum())
          .as("calls in all, heartbeats and polls included: " + calls)
          .isLessThan(steps / 20);
      assertThat(bytes.get())
          .as("at most one and a half times the payloads")
          .isBetween(steps * 100L, (long) (1.5 * steps * (value.length() + 2)));
    }
  }

  private static int count(Map<String, AtomicInteger> calls, String name) {
    return calls.getOrDefault(name, new AtomicInteger()).get();
  }

  private record Counting(Map<String, AtomicInteger> calls, AtomicLong bytes)
      implements io.grpc.ClientInterceptor {
    @Override
    public <Q, S> ClientCall<Q, S> interceptCall(
        MethodDescriptor<Q, S> method, CallOptions options, Channel next) {
      String name = String.valueOf(method.getBareMethodName());
      calls.computeIfAbsent(name, key -> new AtomicInteger()).incrementAndGet();
      return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
        @Override
        public void start(Listener<S> listener, Metadata headers) {
          super.start(
              new SimpleForwardingClientCallListener<>(listener) {
                @Override
                public void onMessage(S message) {
                  if (name.equals("PollTasks") || name.equals("GetHistory")) {
                    bytes.addAndGet(
                        ((com.google.protobuf.MessageLite) message).getSerializedSize());
                  }
                  super.onMessage(message);
                }
              },
              headers);
        }
      };
    }
  }
}
