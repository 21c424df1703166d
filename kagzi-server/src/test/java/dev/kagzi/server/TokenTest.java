package dev.kagzi.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.protocol.v1.AdminServiceGrpc;
import dev.kagzi.protocol.v1.ErrorCode;
import dev.kagzi.protocol.v1.GetServerInfoRequest;
import io.grpc.Channel;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.reflection.v1.ServerReflectionGrpc;
import io.grpc.reflection.v1.ServerReflectionRequest;
import io.grpc.reflection.v1.ServerReflectionResponse;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server with a token, on loopback, over real sockets. */
@SuppressWarnings("NullAway.Init")
class TokenTest {
  private static final String TOKEN = "s3cret-t0ken";
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  private static TestServer server;

  @BeforeAll
  static void start() {
    server =
        TestServer.start(
            TestServer.createDatabase(), config -> config.token(TOKEN).reflection(true));
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Test
  void callers_with_the_token_are_accepted() throws Exception {
    assertThat(version(shows("Bearer " + TOKEN))).isNotEmpty();
    assertThat(version(shows("bearer " + TOKEN))).isNotEmpty();
    assertThat(get("/", "Bearer " + TOKEN).statusCode()).isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "Bearer ",
        "Bearer s3cret-t0ke",
        "Bearer s3cret-t0kenn",
        "Basic s3cret-t0ken",
        "s3cret-t0ken"
      })
  void callers_without_the_token_are_refused_and_learn_nothing_else(String shown) throws Exception {
    var refused = CallErrors.refused(Status.Code.UNAUTHENTICATED, () -> version(shows(shown)));

    assertThat(refused.getCode()).isEqualTo(ErrorCode.ERROR_CODE_UNAUTHORIZED);
    assertThat(refused.getMessage()).doesNotContain(TOKEN);
    HttpResponse<String> page = get("/", shown);
    assertThat(page.statusCode()).isEqualTo(401);
    assertThat(page.body()).startsWith("authorization: not the server's token");
    assertThat(get("/no-such-page", shown).statusCode()).isEqualTo(401);
  }

  @Test
  void health_checks_need_no_token() throws Exception {
    assertThat(get("/healthz", "").statusCode()).isEqualTo(200);
    assertThat(get("/readyz", "").statusCode()).isEqualTo(200);
    assertThat(
            HealthGrpc.newBlockingStub(server.sharedChannel())
                .check(HealthCheckRequest.getDefaultInstance())
                .getStatus())
        .isEqualTo(HealthCheckResponse.ServingStatus.SERVING);
  }

  /** A watch stays open, so anybody could hold any number of them. */
  @Test
  void a_watch_of_the_health_requires_the_token() {
    FirstAnswer<HealthCheckResponse> refused = new FirstAnswer<>();
    HealthGrpc.newStub(server.sharedChannel())
        .watch(HealthCheckRequest.getDefaultInstance(), refused);
    FirstAnswer<HealthCheckResponse> accepted = new FirstAnswer<>();
    HealthGrpc.newStub(shows("Bearer " + TOKEN))
        .watch(HealthCheckRequest.getDefaultInstance(), accepted);

    assertThat(refused.answer)
        .succeedsWithin(10, TimeUnit.SECONDS)
        .isEqualTo(Status.Code.UNAUTHENTICATED);
    assertThat(accepted.answer)
        .succeedsWithin(10, TimeUnit.SECONDS)
        .isInstanceOf(HealthCheckResponse.class);
  }

  @Test
  void reflection_requires_the_token_too() {
    FirstAnswer<ServerReflectionResponse> refused = new FirstAnswer<>();
    ServerReflectionGrpc.newStub(server.sharedChannel())
        .serverReflectionInfo(refused)
        .onNext(ServerReflectionRequest.newBuilder().setListServices("").build());

    assertThat(refused.answer)
        .succeedsWithin(10, TimeUnit.SECONDS)
        .isEqualTo(Status.Code.UNAUTHENTICATED);
  }

  /** The first message of a stream, or the status that ended it. */
  private static final class FirstAnswer<A> implements StreamObserver<A> {
    final CompletableFuture<Object> answer = new CompletableFuture<>();

    @Override
    public void onNext(A message) {
      answer.complete(message);
    }

    @Override
    public void onError(Throwable problem) {
      answer.complete(Status.fromThrowable(problem).getCode());
    }

    @Override
    public void onCompleted() {}
  }

  @Test
  void callers_in_the_process_need_neither_token_nor_socket() {
    ManagedChannel channel =
        InProcessChannelBuilder.forName(server.server().inProcessName()).build();

    assertThat(version(channel)).isNotEmpty();
    channel.shutdownNow();
  }

  private static Channel shows(String authorization) {
    Metadata headers = new Metadata();
    headers.put(AUTHORIZATION, authorization);
    return io.grpc.ClientInterceptors.intercept(
        server.sharedChannel(), MetadataUtils.newAttachHeadersInterceptor(headers));
  }

  private static String version(Channel channel) {
    return AdminServiceGrpc.newBlockingStub(channel)
        .withDeadlineAfter(10, TimeUnit.SECONDS)
        .getServerInfo(GetServerInfoRequest.getDefaultInstance())
        .getVersion();
  }

  private static HttpResponse<String> get(String path, String authorization) throws Exception {
    URI uri = URI.create("http://127.0.0.1:" + server.server().httpPort() + path);
    HttpRequest.Builder request = HttpRequest.newBuilder(uri);
    if (!authorization.isEmpty()) {
      request.header("Authorization", authorization);
    }
    return HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }
}
