package dev.kagzi.server.grpc;

import dev.kagzi.engine.Engine;
import dev.kagzi.protocol.v1.WorkflowScheduleServiceGrpc.WorkflowScheduleServiceImplBase;
import io.grpc.BindableService;
import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The gRPC server. Its handlers run on the transport's threads: see the package for what that asks
 * of them. Thread-safe.
 */
public final class GrpcEdge implements AutoCloseable {
  private static final int MESSAGE_BYTES_MAX = 8 << 20;

  // A window that gRPC tunes by itself costs a ping and its answer for nearly every call.
  private static final int WINDOW_BYTES = 4 << 20;

  private static final int HEADER_BYTES_MAX = 16 << 10;
  private static final int CALLS_PER_CONNECTION_MAX = 10_000;
  private static final int BLOCKING_CALLS_MAX = 1_000;
  private static final Duration GIVE_UP = Duration.ofSeconds(1);

  private final Server server;
  private final ServingState serving;
  private final OpenCalls calls;
  private final EdgeThreads threads;
  private final Duration closeTimeout;

  private GrpcEdge(
      Server server,
      ServingState serving,
      OpenCalls calls,
      EdgeThreads threads,
      Duration closeTimeout) {
    this.server = server;
    this.serving = serving;
    this.calls = calls;
    this.threads = threads;
    this.closeTimeout = closeTimeout;
  }

  /**
   * Opens the port.
   *
   * @param trouble why the server is not ready, or nothing; may block
   * @param closeTimeout how long a stop waits for calls under way
   */
  public static GrpcEdge start(
      GrpcSettings settings,
      Engine engine,
      Supplier<Optional<String>> trouble,
      Duration closeTimeout)
      throws IOException {
    EdgeThreads threads = new EdgeThreads();
    OpenCalls calls = new OpenCalls();
    EdgeRoom room =
        new EdgeRoom(
            engine, new Blocking(BLOCKING_CALLS_MAX), threads.senders(), threads.timer(), calls);
    List<BindableService> services = new ArrayList<>();
    services.add(new WorkflowEndpoint(room));
    services.add(new WorkerEndpoint(room));
    services.add(new NamespaceEndpoint(room));
    services.add(new WorkflowScheduleServiceImplBase() {});
    Set<String> names = names(services);
    names.add(dev.kagzi.protocol.v1.AdminServiceGrpc.SERVICE_NAME);
    services.add(new AdminEndpoint(room, trouble, names, settings.version()));
    ServingState serving = new ServingState(trouble, names);
    try {
      Server server = build(settings, services, serving).start();
      return new GrpcEdge(server, serving, calls, threads, closeTimeout);
    } catch (IOException e) {
      threads.close();
      throw e;
    }
  }

  private static Set<String> names(List<BindableService> services) {
    return services.stream()
        .map(service -> service.bindService().getServiceDescriptor().getName())
        .collect(Collectors.toSet());
  }

  private static Server build(
      GrpcSettings settings, List<BindableService> services, ServingState serving) {
    NettyServerBuilder builder =
        NettyServerBuilder.forAddress(new InetSocketAddress(settings.host(), settings.port()))
            .directExecutor()
            .permitKeepAliveTime(5, TimeUnit.SECONDS)
            .permitKeepAliveWithoutCalls(true)
            .keepAliveTime(10, TimeUnit.SECONDS)
            .keepAliveTimeout(5, TimeUnit.SECONDS)
            .maxInboundMessageSize(MESSAGE_BYTES_MAX)
            .flowControlWindow(WINDOW_BYTES)
            .maxInboundMetadataSize(HEADER_BYTES_MAX)
            .maxConcurrentCallsPerConnection(CALLS_PER_CONNECTION_MAX)
            .addService(serving.service());
    for (BindableService service : services) {
      builder.addService(ReadableRequests.guard(NotYet.refuse(service.bindService())));
    }
    if (settings.reflection()) {
      builder.addService(ProtoReflectionServiceV1.newInstance());
    }
    return builder.build();
  }

  /** Tells whoever asks for the server's health, from now on. Until then it is not serving. */
  public void serve() {
    serving.watch(threads.timer());
  }

  /** The port that is open. */
  public int port() {
    return server.getPort();
  }

  /** How many polls, awaits and streams are open. */
  public int openCalls() {
    return calls.size();
  }

  /**
   * Takes no more calls, sends the callers of open polls and streams elsewhere, lets the other
   * calls end, up to the close timeout.
   */
  @Override
  public void close() {
    serving.stop();
    server.shutdown();
    calls.endAll();
    try {
      if (!server.awaitTermination(closeTimeout.toMillis(), TimeUnit.MILLISECONDS)) {
        server.shutdownNow();
        server.awaitTermination(GIVE_UP.toMillis(), TimeUnit.MILLISECONDS);
      }
    } catch (InterruptedException e) {
      server.shutdownNow();
      Thread.currentThread().interrupt();
    }
    threads.close();
  }
}
