package dev.kagzi.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.testkit.KagziEnv;
import dev.kagzi.testkit.KagziExtension;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The texts of health. */
@ExtendWith(KagziExtension.class)
@Tag("starter")
class KagziStatusTest {
  private static final WorkflowType<String, String> HOLD =
      WorkflowType.of("hold", String.class, String.class).queue("holds");
  private static final CountDownLatch begun = new CountDownLatch(1);
  private static final CountDownLatch end = new CountDownLatch(1);

  @Configuration(proxyBeanMethods = false)
  static class Workflows {
    @Bean
    WorkflowDefinition<String, String> hold() {
      return WorkflowDefinition.of(
          HOLD,
          (ctx, input) ->
              ctx.step(
                  "hold",
                  String.class,
                  () -> {
                    begun.countDown();
                    end.await();
                    return "done";
                  }));
    }
  }

  @Test
  void health_counts_one_run_and_several_runs(KagziEnv env) {
    new ApplicationContextRunner()
        .withConfiguration(AutoConfigurations.of(KagziAutoConfiguration.class))
        .withUserConfiguration(Workflows.class)
        .withPropertyValues(
            "kagzi.address=" + env.address(), "kagzi.namespace=" + env.namespace())
        .run(
            context -> {
              Kagzi kagzi = context.getBean(Kagzi.class);
              KagziWorkers workers = context.getBean(KagziWorkers.class);
              awaitText(kagzi, workers, "connected, 0 active runs");

              var run = kagzi.workflow(HOLD).start("");
              assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
              awaitText(kagzi, workers, "connected, 1 active run");

              end.countDown();
              assertThat(run.result(Duration.ofSeconds(20))).isEqualTo("done");
            });
  }

  /** A worker connects in the background. */
  private static void awaitText(Kagzi kagzi, KagziWorkers workers, String text) {
    await()
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(
            () ->
                assertThat(KagziStatus.of(kagzi, workers).details())
                    .containsEntry("workers", Map.of("holds", text)));
  }
}
