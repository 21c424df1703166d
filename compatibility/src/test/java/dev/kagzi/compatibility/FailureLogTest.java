package dev.kagzi.compatibility;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunFailedException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.spring.KagziAutoConfiguration;
import dev.kagzi.spring.WorkflowDefinition;
import dev.kagzi.testkit.KagziEnv;
import dev.kagzi.testkit.KagziExtension;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The log of a failing workflow in Spring Boot's default pattern. */
@ExtendWith({KagziExtension.class, OutputCaptureExtension.class})
@Tag("starter")
class FailureLogTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final WorkflowType<String, String> SHIP =
      WorkflowType.of("ship", String.class, String.class).queue("orders");

  @Configuration(proxyBeanMethods = false)
  @ImportAutoConfiguration(KagziAutoConfiguration.class)
  static class Application {
    @Bean
    WorkflowDefinition<String, String> ship() {
      return WorkflowDefinition.of(SHIP, FailureLogTest::ship);
    }
  }

  private static String ship(WorkflowContext ctx, String where) {
    return switch (where) {
      case "in a step" ->
          ctx.step("pack").retry(Retry.none()).run(String.class, FailureLogTest::pack);
      case "in a step that is retried" ->
          ctx.step("pack")
              .retry(Retry.fixed(2, Duration.ofMillis(300)))
              .run(String.class, FailureLogTest::pack);
      default -> throw new IllegalStateException("no address");
    };
  }

  private static String pack() {
    throw new IllegalStateException("no box left");
  }

  private static RunHandle<String> fail(KagziEnv env, String where) {
    SpringApplication application = new SpringApplication(Application.class);
    application.setWebApplicationType(WebApplicationType.NONE);
    application.setDefaultProperties(
        Map.of("kagzi.address", env.address(), "kagzi.namespace", env.namespace()));
    try (ConfigurableApplicationContext context = application.run()) {
      RunHandle<String> run = context.getBean(Kagzi.class).workflow(SHIP).id("parcel-7").start(where);
      assertThatThrownBy(() -> run.result(SOON)).isInstanceOf(RunFailedException.class);
      return run;
    }
  }

  private static List<String> warnings(CapturedOutput output) {
    return output.getOut().lines().filter(line -> line.contains("  WARN ")).toList();
  }

  @Test
  void a_failed_step_is_logged_with_run_type_step_error_and_stack(
      KagziEnv env, CapturedOutput output) {
    RunHandle<String> run = fail(env, "in a step");

    assertThat(warnings(output))
        .hasSize(2)
        .allSatisfy(line -> assertThat(line).contains(ids(run)).contains("no box left"));
    assertThat(warnings(output).getFirst()).contains("step failed, no attempt is left");
    assertThat(warnings(output).getLast()).contains("run failed");
    assertThat(output)
        .contains("java.lang.IllegalStateException: no box left")
        .contains("at dev.kagzi.compatibility.FailureLogTest.pack(FailureLogTest.java:");
  }

  private static String[] ids(RunHandle<?> run) {
    return new String[] {
      "run=" + run.runId() + " workflow_id=parcel-7 type=ship queue=orders", "step=pack"
    };
  }

  @Test
  void each_attempt_of_a_step_is_logged(KagziEnv env, CapturedOutput output) {
    RunHandle<String> run = fail(env, "in a step that is retried");

    assertThat(output.getOut().lines().filter(line -> line.contains("step failed, it will be")))
        .singleElement()
        .asString()
        .contains(" INFO ", "attempt=1", "no box left")
        .contains(ids(run));
    assertThat(warnings(output).getFirst()).contains("attempt=2").contains(ids(run));
  }

  @Test
  void a_failure_outside_of_steps_has_its_stack(KagziEnv env, CapturedOutput output) {
    RunHandle<String> run = fail(env, "outside");

    assertThat(warnings(output))
        .singleElement()
        .asString()
        .contains("run=" + run.runId(), "workflow_id=parcel-7", "type=ship", "error=\"no address\"");
    assertThat(output)
        .contains("at dev.kagzi.compatibility.FailureLogTest.ship(FailureLogTest.java:");
  }
}
