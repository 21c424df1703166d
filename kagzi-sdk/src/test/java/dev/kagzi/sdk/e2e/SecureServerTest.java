package dev.kagzi.sdk.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.postgres.EmbeddedPostgres;
import dev.kagzi.postgres.SharedPostgres;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RequestRefusedException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.ServerUnavailableException;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.server.KagziServer;
import dev.kagzi.server.ServerConfig;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.function.UnaryOperator;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Servers with token and TLS, over sockets and in process. */
@SuppressWarnings("NullAway.Init")
class SecureServerTest {
  private static final Duration SOON = Duration.ofSeconds(30);
  private static final WorkflowType<String, String> GREET =
      WorkflowType.of("greet", String.class, String.class).queue("secure");

  @TempDir static Path folder;
  private static Certificate serverSide;
  private static Certificate clientSide;
  private static Certificate stranger;

  @BeforeAll
  static void createCertificates() throws Exception {
    serverSide = Certificate.create(folder, "server");
    clientSide = Certificate.create(folder, "client");
    stranger = Certificate.create(folder, "stranger");
  }

  @Test
  void token_and_tls_let_client_and_worker_in() throws Exception {
    Path token = Files.writeString(folder.resolve("token"), "t0ken\n");
    try (KagziServer server =
        start(config -> config.tls(serverSide.cert(), serverSide.key()).tokenFile(token))) {
      assertThat(greeting(client(server).tlsCa(serverSide.cert()).tokenFile(token)))
          .isEqualTo("hello you");

      try (Kagzi without = client(server).tlsCa(serverSide.cert()).connect()) {
        assertThatThrownBy(() -> without.get("0199a0c0-0000-7000-8000-000000000000"))
            .isInstanceOf(RequestRefusedException.class)
            .hasMessageContaining("authorization: not the server's token");
      }
      try (Kagzi plain = client(server).token("t0ken").connect()) {
        assertThatThrownBy(() -> plain.get("0199a0c0-0000-7000-8000-000000000000"))
            .isInstanceOf(ServerUnavailableException.class);
      }
      try (Kagzi distrustful = client(server).token("t0ken").tlsCa(stranger.cert()).connect()) {
        assertThatThrownBy(() -> distrustful.get("0199a0c0-0000-7000-8000-000000000000"))
            .isInstanceOf(ServerUnavailableException.class);
      }
      assertThat(https(server, "/", "Bearer t0ken").statusCode()).isEqualTo(200);
      assertThat(https(server, "/", "Bearer no").statusCode()).isEqualTo(401);
    }
  }

  @Test
  void of_several_servers_each_must_have_a_certificate_for_its_own_name() {
    try (KagziServer server = start(config -> config.tls(serverSide.cert(), serverSide.key()))) {
      String addresses = "127.0.0.2:1,localhost:" + server.grpcPort();

      assertThat(greeting(Kagzi.builder().address(addresses).tlsCa(serverSide.cert())))
          .isEqualTo("hello you");
    }
  }

  @Test
  void mutual_tls_accepts_signed_certificates_and_health_needs_none() throws Exception {
    try (KagziServer server =
        start(config -> config.tls(serverSide.cert(), serverSide.key(), clientSide.cert()))) {
      assertThat(
              greeting(
                  client(server)
                      .tlsCa(serverSide.cert())
                      .tlsClient(clientSide.cert(), clientSide.key())))
          .isEqualTo("hello you");

      try (Kagzi unknown =
          client(server)
              .tlsCa(serverSide.cert())
              .tlsClient(stranger.cert(), stranger.key())
              .connect()) {
        assertThatThrownBy(() -> unknown.get("0199a0c0-0000-7000-8000-000000000000"))
            .isInstanceOf(ServerUnavailableException.class);
      }
      assertThat(https(server, "/healthz", "").statusCode()).isEqualTo(200);
      assertThat(https(server, "/", "").body()).startsWith("certificate: none");
    }
  }

  @Test
  void a_server_without_ports_is_reached_from_its_own_process() {
    try (KagziServer server = start(config -> config.inProcessOnly().token("t0ken"))) {
      assertThat(server.grpcPort()).isEqualTo(-1);
      assertThat(server.httpPort()).isEqualTo(-1);

      assertThat(greeting(Kagzi.builder().inProcess(server.inProcessName())))
          .isEqualTo("hello you");
    }
  }

  @Test
  void unusable_files_are_rejected_with_their_name() {
    ServerConfig.Builder config = ServerConfig.builder();

    assertThatThrownBy(() -> config.tls(serverSide.cert(), clientSide.key()))
        .hasMessage(
            "tls-key: %s (expected: the key of the certificate in %s)"
                .formatted(clientSide.key(), serverSide.cert()));
    assertThatThrownBy(() -> config.tls(serverSide.key(), serverSide.key()))
        .hasMessage("tls-cert: " + serverSide.key() + " (expected: certificates in PEM)");
    assertThatThrownBy(() -> config.tls(serverSide.cert(), serverSide.cert()))
        .hasMessageContaining("openssl pkcs8");
    assertThatThrownBy(() -> config.tokenFile(folder.resolve("none")))
        .hasMessageContaining("none (expected: a file that can be read)");
    assertThatThrownBy(() -> Kagzi.builder().tokenFile(folder.resolve("none")))
        .hasMessageContaining("none (expected: a file that can be read)");
    assertThatThrownBy(() -> Kagzi.builder().token("two words"))
        .hasMessageContaining("without spaces")
        .hasMessageNotContaining("two words");
  }

  private static String greeting(Kagzi.Builder client) {
    try (Kagzi kagzi = client.connect()) {
      kagzi
          .worker()
          .workflow(GREET, (ctx, name) -> ctx.step("say", String.class, () -> "hello " + name))
          .start();

      RunHandle<String> run = kagzi.workflow(GREET).start("you");
      return run.result(SOON);
    }
  }

  private static Kagzi.Builder client(KagziServer server) {
    return Kagzi.builder()
        .address("localhost:" + server.grpcPort())
        .callTimeout(Duration.ofSeconds(3));
  }

  private static KagziServer start(UnaryOperator<ServerConfig.Builder> settings) {
    EmbeddedPostgres postgres = SharedPostgres.server();
    return KagziServer.start(
        settings
            .apply(
                ServerConfig.builder()
                    .grpcPort(0)
                    .httpPort(0)
                    .dbUrl(postgres.jdbcUrl(SharedPostgres.createDatabase()))
                    .dbUser(postgres.user())
                    .dbPassword(postgres.password())
                    .unsafeDatabase()
                    .closeTimeout(Duration.ofSeconds(2)))
            .build());
  }

  private static HttpResponse<String> https(KagziServer server, String path, String authorization)
      throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("https://localhost:" + server.httpPort() + path));
    if (!authorization.isEmpty()) {
      request.header("Authorization", authorization);
    }
    try (HttpClient http = HttpClient.newBuilder().sslContext(trustingTheServer()).build()) {
      return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }
  }

  private static SSLContext trustingTheServer() throws Exception {
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    try (var in = Files.newInputStream(serverSide.cert())) {
      trusted.setCertificateEntry(
          "server", CertificateFactory.getInstance("X.509").generateCertificate(in));
    }
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }
}
