package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.postgres.EmbeddedPostgres;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The installed release, reached from another host with TLS and a token. */
@Timeout(120)
class StrangersIT {

  @TempDir Path folder;

  @Test
  void another_host_needs_token_and_certificate_and_its_worker_completes_a_run() throws Exception {
    try (OtherHost other = OtherHost.open();
        EmbeddedPostgres postgres =
            EmbeddedPostgres.builder().dataDir(folder.resolve("data")).start()) {
      Release release = Release.unpack(folder);
      Certificate certificate = Certificate.create(folder, "server", "ip:" + other.address());
      Certificate wrong = Certificate.create(folder, "wrong", "ip:" + other.address());
      Path token = Files.writeString(folder.resolve("token"), "t0ken\n");
      postgres.createDatabase("kagzi");

      try (KagziProcess server = serve(release, other, postgres, certificate, token)) {
        String address = other.address() + ":" + server.awaitReady().grpcPort();
        Caller caller = new Caller(release, other, address);
        String[] known = {
          "--token-file", token.toString(), "--tls-ca", certificate.cert().toString()
        };

        // The worker starts while other callers are refused.
        try (KagziProcess worker = work(other, address, token, certificate)) {
          refused(caller, token, certificate, wrong);
          Release.Ended health = caller.call("health", known);
          assertThat(health.code()).as(health.err()).isZero();
          assertThat(health.out()).containsPattern("server +SERVING");

          Release.Ended started =
              caller.call(
                  "workflow",
                  with(known, "start", "greet", "--queue", "greetings", "--input", "\"Ada\""));
          assertThat(started.code()).as(started.err()).isZero();
          Release.Ended result =
              caller.call("workflow", with(known, "result", started.out().strip()));
          assertThat(result.out().strip())
              .as(result.err() + worker.errors())
              .isEqualTo("\"hello Ada\"");
        }

        server.terminate();
        assertThat(server.awaitExit()).isZero();
      }
    }
  }

  private static void refused(Caller caller, Path token, Certificate right, Certificate wrong)
      throws Exception {
    Release.Ended withoutToken = caller.call("health", "--tls-ca", right.cert().toString());
    assertThat(withoutToken.code()).as(withoutToken.err()).isEqualTo(1);
    assertThat(withoutToken.err()).startsWith("kagzi: authorization: ").hasLineCount(1);

    Release.Ended withoutTls = caller.call("health", "--token-file", token.toString());
    assertThat(withoutTls.code()).as(withoutTls.err()).isEqualTo(4);
    assertThat(withoutTls.err()).contains("--tls if it requires TLS").hasLineCount(1);

    Release.Ended distrusting =
        caller.call(
            "health", "--token-file", token.toString(), "--tls-ca", wrong.cert().toString());
    assertThat(distrusting.code()).as(distrusting.err()).isEqualTo(4);
    assertThat(distrusting.err())
        .startsWith("kagzi: server: " + caller.address + ": certificate: ")
        .contains("--tls-ca")
        .hasLineCount(1);
  }

  /** Commands of the release that run on the other host. */
  private record Caller(Release release, OtherHost host, String address) {

    Release.Ended call(String command, String... arguments) throws Exception {
      String[] words = with(arguments, release.launcher(), command, "--address", address);
      return release.run(Map.of(), host.inside(words));
    }
  }

  private static KagziProcess serve(
      Release release,
      OtherHost other,
      EmbeddedPostgres postgres,
      Certificate certificate,
      Path token)
      throws Exception {
    return KagziProcess.start(
        release.builder(
            release.launcher(),
            "server",
            "--host",
            other.address(),
            "--port",
            "0",
            "--http-port",
            "0",
            "--tls-cert",
            certificate.cert().toString(),
            "--tls-key",
            certificate.key().toString(),
            "--token-file",
            token.toString()),
        Map.of(
            "KAGZI_DB_URL", postgres.jdbcUrl("kagzi"),
            "KAGZI_DB_USER", postgres.user(),
            "KAGZI_DB_PASSWORD", postgres.password()));
  }

  private static KagziProcess work(
      OtherHost other, String address, Path token, Certificate certificate) throws Exception {
    return KagziProcess.start(
        new ProcessBuilder(
            other.inside(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                GreetingWorker.class.getName(),
                address,
                token.toString(),
                certificate.cert().toString())),
        Map.of());
  }

  private static String[] with(String[] last, String... first) {
    List<String> words = new ArrayList<>(List.of(first));
    words.addAll(List.of(last));
    return words.toArray(String[]::new);
  }
}
