package dev.kagzi.sdk.e2e;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.protocol.v1.DrainWorkerRequest;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Worker;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SignalTest extends RealServerTest {

  @ParameterizedTest
  @ValueSource(strings = {"TERM", "INT"})
  void a_signal_lets_the_running_step_finish_before_the_process_ends(String signal)
      throws Exception {
    Process process = startWorker();
    try {
      RunHandle<String> run = kagzi.workflow(type).start("1500");
      awaitRunning(process);

      signal(process, signal);

      assertThat(run.result(SOON)).isEqualTo("finished true");
      assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void unfinished_runs_are_released_before_the_process_ends() throws Exception {
    Process process = startWorker();
    try {
      RunHandle<String> run = kagzi.workflow(type).start("600000");
      awaitRunning(process);

      signal(process, "TERM");

      assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
      assertThat(run.status()).isEqualTo(RunStatus.PENDING);
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void an_operator_can_drain_a_worker() throws Exception {
    Worker worker = kagzi.worker().workflow(type, (ctx, name) -> name).start();
    assertThat(worker.awaitRegistered(SOON)).isTrue();

    server
        .admin()
        .drainWorker(DrainWorkerRequest.newBuilder().setWorkerId(worker.workerId()).build());

    assertThat(worker.awaitTermination(Duration.ofSeconds(10))).isTrue();
    RunHandle<String> run = kagzi.workflow(type).start("late");
    await().during(Duration.ofMillis(300)).until(() -> run.status() == RunStatus.PENDING);
  }

  private Process startWorker() throws IOException {
    List<String> command = new ArrayList<>();
    if (System.getProperty("os.name").equals("Linux")) {
      // Background jobs of a shell ignore Ctrl-C, and child processes inherit that. The test must
      // not depend on how the build was started.
      command.addAll(List.of("env", "--default-signal=INT,TERM"));
    }
    command.addAll(
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            WorkerProcess.class.getName(),
            server.address(),
            queue));
    return new ProcessBuilder(command).redirectErrorStream(true).start();
  }

  private static void awaitRunning(Process process) throws IOException {
    BufferedReader out = new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8));
    for (String line = out.readLine(); line != null; line = out.readLine()) {
      if (line.equals("running")) {
        Thread.ofPlatform().daemon().start(() -> drain(out));
        return;
      }
    }
    throw new AssertionError("the worker's process ended before it ran anything");
  }

  private static void drain(BufferedReader out) {
    try {
      while (out.readLine() != null) {
        // Read the output, so that a full pipe cannot block the process.
      }
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static void signal(Process process, String signal) throws Exception {
    int exit =
        new ProcessBuilder(List.of("kill", "-" + signal, Long.toString(process.pid())))
            .start()
            .waitFor();
    assertThat(exit).isZero();
  }
}
