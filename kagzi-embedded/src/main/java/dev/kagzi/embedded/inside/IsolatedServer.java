package dev.kagzi.embedded.inside;

import dev.kagzi.embedded.EmbeddedServer;
import dev.kagzi.engine.query.WaitCause;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.server.KagziServer;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A server in the server's own class loader. Thread-safe. */
final class IsolatedServer implements EmbeddedServer, EmbeddedServer.TestControls {
  private final KagziServer server;
  private final String host;

  IsolatedServer(KagziServer server, String host) {
    this.server = server;
    this.host = host;
  }

  @Override
  public String address() {
    return address(host, grpcPort());
  }

  static String address(String host, int port) {
    return switch (host) {
      // No addresses to connect to.
      case "0.0.0.0", "::", "[::]" -> "127.0.0.1:" + port;
      default ->
          host.contains(":") && !host.startsWith("[")
              ? "[%s]:%d".formatted(host, port)
              : host + ":" + port;
    };
  }

  @Override
  public int grpcPort() {
    return server.grpcPort();
  }

  @Override
  public int httpPort() {
    return server.httpPort();
  }

  @Override
  public Optional<Throwable> failure() {
    return server.failure();
  }

  @Override
  public TestControls testControls() {
    return this;
  }

  @Override
  public void clockMoved() {
    server.engine().clockMoved();
  }

  @Override
  public CompletableFuture<?> forceWorkerOffline(String workerId) {
    return server
        .engine()
        .workers()
        .forceOffline(null, WorkerId.parse(workerId).orElseThrow(), "test", null);
  }

  @Override
  public List<String> explain(String namespace, String runId) {
    return server
        .engine()
        .queries()
        .explain(namespace, RunId.parse(runId).orElseThrow())
        .causes()
        .stream()
        .map(WaitCause::text)
        .toList();
  }

  @Override
  public void close() {
    server.close();
  }
}
