package dev.kagzi.compatibility;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.WorkerInfo;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.spring.KagziAutoConfiguration;
import dev.kagzi.spring.KagziProperties;
import dev.kagzi.spring.WorkflowDefinition;
import dev.kagzi.testkit.KagziEnv;
import dev.kagzi.testkit.KagziExtension;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The auto-configuration with contexts of its own, on a server of the test kit. */
@ExtendWith({KagziExtension.class, OutputCaptureExtension.class})
@Tag("starter")
class StarterTest {
  private static final WorkflowType<String, String> GREET =
      WorkflowType.of("greet", String.class, String.class).queue("greetings");
  private static final WorkflowType<String, String> HOLD =
      WorkflowType.of("hold", String.class, String.class).queue("holds");

  /** A permit for each execution, by input. */
  private static final Map<String, Semaphore> begun = new ConcurrentHashMap<>();

  private static final CountDownLatch never = new CountDownLatch(1);

  @Configuration(proxyBeanMethods = false)
  @ImportAutoConfiguration(KagziAutoConfiguration.class)
  static class Workflows {
    @Bean
    WorkflowDefinition<String, String> greet() {
      return WorkflowDefinition.of(GREET, (ctx, name) -> "hello " + name);
    }

    @Bean
    WorkflowDefinition<String, String> hold() {
      return WorkflowDefinition.of(
          HOLD,
          (ctx, input) ->
              ctx.step(
                  "hold",
                  String.class,
                  () -> {
                    begun(input).release();
                    if (input.equals("for ever")) {
                      never.await();
                    }
                    return "done";
                  }));
    }
  }

  private static Semaphore begun(String input) {
    return begun.computeIfAbsent(input, unused -> new Semaphore(0));
  }

  private final ApplicationContextRunner contexts =
      new ApplicationContextRunner()
          .withConfiguration(AutoConfigurations.of(KagziAutoConfiguration.class))
          .withUserConfiguration(Workflows.class);

  private ApplicationContextRunner on(KagziEnv env) {
    return contexts.withPropertyValues(
        "kagzi.address=" + env.address(), "kagzi.namespace=" + env.namespace());
  }

  @Test
  void each_queue_has_a_worker_with_the_options_of_the_properties(KagziEnv env) {
    on(env)
        .withPropertyValues(
            "kagzi.worker.max-concurrent=7",
            "kagzi.worker.labels.team=shop",
            "kagzi.worker.version=v3")
        .run(
            context -> {
              Kagzi kagzi = context.getBean(Kagzi.class);
              assertThat(kagzi.workflow(GREET).start("Ada").result(Duration.ofSeconds(20)))
                  .isEqualTo("hello Ada");
              env.settle();
              try (Stream<WorkerInfo> workers = kagzi.admin().workers()) {
                assertThat(workers)
                    .allSatisfy(
                        worker -> {
                          assertThat(worker.labels()).containsEntry("team", "shop");
                          assertThat(worker.version()).isEqualTo("v3");
                          assertThat(worker.maxConcurrent()).contains(7);
                        })
                    .extracting(WorkerInfo::queue)
                    .containsExactlyInAnyOrder("greetings", "holds");
              }
            });
  }

  @Test
  void only_the_chosen_queues_are_served(KagziEnv env) {
    on(env)
        .withPropertyValues("kagzi.worker.queues=greetings")
        .run(context -> assertThat(context.getBean(Kagzi.class).workers()).hasSize(1));
    on(env)
        .withPropertyValues("kagzi.worker.enabled=false")
        .run(context -> assertThat(context.getBean(Kagzi.class).workers()).isEmpty());
  }

  @Test
  void a_queue_without_a_workflow_is_refused(KagziEnv env) {
    on(env)
        .withPropertyValues("kagzi.worker.queues=greeting")
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .hasMessage(
                        "kagzi.worker.queues: greeting (expected: queues of WorkflowDefinition"
                            + " beans: [greetings, holds])"));
  }

  @Test
  void a_context_that_closes_leaves_no_claim_behind(KagziEnv env) throws Exception {
    RunHandle<String> held = env.kagzi().workflow(HOLD).start("for ever");
    on(env)
        .withPropertyValues("kagzi.worker.drain-timeout=100ms")
        .run(context -> assertThat(begun("for ever").tryAcquire(20, TimeUnit.SECONDS)).isTrue());

    assertThat(held.status()).as("released by the closed context").isNotEqualTo(RunStatus.RUNNING);
    on(env)
        .withPropertyValues("kagzi.worker.drain-timeout=100ms")
        .run(
            context ->
                assertThat(begun("for ever").tryAcquire(5, TimeUnit.SECONDS))
                    .as("continued at once by the next context")
                    .isTrue());
  }

  @Test
  void a_context_that_closes_waits_for_a_run_that_ends_in_time(KagziEnv env) {
    RunHandle<String> run = env.kagzi().workflow(HOLD).start("shortly");
    on(env)
        .run(context -> assertThat(begun("shortly").tryAcquire(20, TimeUnit.SECONDS)).isTrue());

    assertThat(run.status()).isEqualTo(RunStatus.COMPLETED);
  }

  @Test
  void a_start_without_a_server_says_what_to_do(CapturedOutput output) {
    startFails(Map.of("kagzi.address", "localhost:1", "kagzi.start-timeout", "200ms"));

    assertThat(output)
        .contains("APPLICATION FAILED TO START", "No Kagzi server answered", "localhost:1")
        .contains("kagzi.start-timeout=0");
  }

  private static void startFails(Map<String, Object> properties) {
    SpringApplication application = new SpringApplication(Workflows.class);
    application.setWebApplicationType(WebApplicationType.NONE);
    application.setDefaultProperties(properties);
    assertThatThrownBy(application::run).isInstanceOf(RuntimeException.class);
  }

  @Test
  void a_start_that_does_not_wait_needs_no_server() {
    contexts
        .withPropertyValues("kagzi.address=localhost:1", "kagzi.start-timeout=0")
        .run(context -> assertThat(context).hasNotFailed());
  }

  @Test
  void the_token_is_not_in_a_log(KagziEnv env) {
    on(env)
        .withPropertyValues("kagzi.token=secret")
        .run(
            context ->
                assertThat(context.getBean(KagziProperties.class).toString())
                    .doesNotContain("secret"));
  }

  @Test
  void an_ide_knows_the_properties() throws Exception {
    try (InputStream metadata =
        KagziProperties.class.getResourceAsStream(
            "/META-INF/spring-configuration-metadata.json")) {
      assertThat(new String(metadata.readAllBytes(), StandardCharsets.UTF_8))
          .contains("\"name\": \"kagzi.address\"", "\"name\": \"kagzi.worker.drain-timeout\"")
          .contains("Namespace that the application works in");
    }
  }
}
