package dev.kagzi.compatibility;

import static dev.kagzi.testkit.KagziAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.spring.KagziAutoConfiguration;
import dev.kagzi.spring.WorkflowDefinition;
import dev.kagzi.testkit.KagziEnv;
import dev.kagzi.testkit.KagziExtension;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.devtools.autoconfigure.LocalDevToolsAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** A process with devtools, which restarts the application with new classes in the same JVM. */
@ExtendWith(KagziExtension.class)
class DevtoolsTest {
  private static final Duration SOON = Duration.ofSeconds(120);

  record Order(String item) {}

  record Prepared(Order order, String loader) {}

  record Receipt(Order order, String before, String after) {}

  private static final WorkflowType<Order, Receipt> SHIP =
      WorkflowType.of("ship", Order.class, Receipt.class).queue("orders");

  @Configuration(proxyBeanMethods = false)
  @ImportAutoConfiguration({LocalDevToolsAutoConfiguration.class, KagziAutoConfiguration.class})
  static class Application {
    public static void main(String[] args) {
      SpringApplication.run(Application.class, args);
    }

    @Bean
    WorkflowDefinition<Order, Receipt> ship() {
      return WorkflowDefinition.of(SHIP, Application::ship);
    }

    private static Receipt ship(WorkflowContext ctx, Order order) {
      Prepared prepared =
          ctx.step("prepare", Prepared.class, () -> new Prepared(order, loader()));
      ctx.sleep("night", Duration.ofDays(1));
      return ctx.step(
          "ship", Receipt.class, () -> new Receipt(prepared.order(), prepared.loader(), loader()));
    }

    private static String loader() {
      ClassLoader loader = Order.class.getClassLoader();
      return loader.getClass().getSimpleName() + " " + System.identityHashCode(loader);
    }
  }

  @Test
  void a_run_continues_with_the_classes_of_the_restarted_application(
      KagziEnv env, @TempDir Path folder) throws Exception {
    Path log = Path.of("target/devtools.log");
    Process application = start(env, folder, log);
    try {
      RunHandle<Receipt> run = env.kagzi().workflow(SHIP).start(new Order("lamp"));
      await().atMost(SOON).until(() -> run.status() == RunStatus.SLEEPING);

      Files.writeString(folder.resolve("changed"), "a change, which devtools notices");
      await().atMost(SOON).until(() -> starts(log) == 2);
      env.advance(Duration.ofHours(25));

      Receipt receipt = run.result(SOON);
      assertThat(receipt.order()).isEqualTo(new Order("lamp"));
      assertThat(receipt.before()).startsWith("RestartClassLoader ");
      assertThat(receipt.after())
          .startsWith("RestartClassLoader ")
          .isNotEqualTo(receipt.before());
      assertThat(run).executedStep("prepare").once();
      assertThat(Files.readString(log)).doesNotContain("WARN", "ERROR");
    } finally {
      application.destroy();
      application.waitFor();
    }
  }

  private static Process start(KagziEnv env, Path folder, Path log) throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-cp",
            System.getProperty("java.class.path"),
            Application.class.getName(),
            "--spring.main.web-application-type=none",
            "--spring.main.keep-alive=true",
            "--spring.devtools.restart.additional-paths=" + folder,
            "--spring.devtools.restart.poll-interval=200ms",
            "--spring.devtools.restart.quiet-period=100ms",
            "--spring.devtools.livereload.enabled=false",
            "--kagzi.address=" + env.address(),
            "--kagzi.namespace=" + env.namespace())
        .redirectErrorStream(true)
        .redirectOutput(log.toFile())
        .start();
  }

  private static long starts(Path log) throws IOException {
    return Files.readAllLines(log).stream().filter(line -> line.contains("Started ")).count();
  }
}
