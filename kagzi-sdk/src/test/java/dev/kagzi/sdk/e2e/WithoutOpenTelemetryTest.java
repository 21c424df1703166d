package dev.kagzi.sdk.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.sdk.RunHandle;
import java.io.File;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** OpenTelemetry is optional: applications that do not use it need not have it. */
class WithoutOpenTelemetryTest extends RealServerTest {
  @Test
  void client_and_worker_run_without_open_telemetry_on_the_class_path(@TempDir Path folder)
      throws Exception {
    Path output = folder.resolve("output");
    List<String> entries =
        Arrays.asList(System.getProperty("java.class.path").split(File.pathSeparator));
    List<String> without =
        entries.stream().filter(entry -> !entry.contains("opentelemetry")).toList();
    assertThat(without).hasSizeLessThan(entries.size());
    Process process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "--enable-native-access=ALL-UNNAMED",
                    "-XX:TieredStopAtLevel=1",
                    "-cp",
                    without.stream().collect(Collectors.joining(File.pathSeparator)),
                    WorkerProcess.class.getName(),
                    server.address(),
                    queue))
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      RunHandle<String> run = kagzi.workflow(type).start("1");

      assertThat(run.result(SOON)).isEqualTo("finished true");
    } finally {
      process.destroyForcibly().waitFor();
    }
    assertThat(output).content().contains("running").doesNotContain("opentelemetry");
  }
}
