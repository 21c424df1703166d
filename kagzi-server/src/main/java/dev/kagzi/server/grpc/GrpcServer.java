package dev.kagzi.server.grpc;

import dev.kagzi.engine.Engine;
import io.grpc.BindableService;
import io.grpc.ServerBuilder;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The gRPC server. Its handlers run on the transport's threads: see the package for what that asks
 * of them. Thread-safe.
 */
public final class GrpcServer implements AutoCloseable {
  private static final int BLOCKING_CALLS_MAX = 1_000;

  private final Transports transports;
  private final ServingState serving;
  private final OpenCalls calls;
  private final GoneCallers gone;
  private final GrpcThreads threads;
  private final Duration closeTimeout;

  private GrpcServer(
      Transports transports,
      ServingState serving,
      OpenCalls calls,
      GoneCallers gone,
      GrpcThreads threads,
      Duration closeTimeout) {
    this.transports = transports;
    this.serving = serving;
    this.calls = calls;
    this.gone = gone;
    this.threads = threads;
    this.closeTimeout = closeTimeout;
  }

  /**
   * Opens the port, and the name in this process.
   *
   * @param trouble why the server is not ready, or nothing; may block
   * @param closeTimeout how long a stop waits for calls under way
   */
  public static GrpcServer start(
      GrpcSettings settings,
      Engine engine,
      Supplier<Optional<String>> trouble,
      Duration closeTimeout)
      throws IOException {
    GrpcThreads threads = new GrpcThreads(engine.threads());
    OpenCalls calls = new OpenCalls();
    GoneCallers gone = new GoneCallers();
    CallMemory memory = new CallMemory(settings.memory());
    GrpcContext room =
        new GrpcContext(
            engine,
            new BlockingCalls(BLOCKING_CALLS_MAX, engine.threads()),
            threads.senders(),
            threads.timer(),
            calls,
            memory);
    List<BindableService> services = new ArrayList<>();
    services.add(new WorkflowEndpoint(room));
    services.add(new WorkerEndpoint(room));
    services.add(new NamespaceEndpoint(room));
    services.add(new ScheduleEndpoint(room));
    Set<String> names = names(services);
    names.add(dev.kagzi.protocol.v1.AdminServiceGrpc.SERVICE_NAME);
    services.add(new AdminEndpoint(room, trouble, names, settings.version()));
    ServingState serving = new ServingState(trouble, names);
    try {
      Transports transports =
          Transports.open(
              settings,
              threads,
              memory,
              server -> {
                add(server, services, room, serving, settings.reflection());
                // Added last, it is next to the transport: calls pass it after all others.
                server.intercept(gone);
              });
      return new GrpcServer(transports, serving, calls, gone, threads, closeTimeout);
    } catch (IOException e) {
      // The event loops end now, which is no failure of theirs.
      engine.threads().close();
      threads.close();
      throw e;
    }
  }

  private static Set<String> names(List<BindableService> services) {
    return services.stream()
        .map(service -> service.bindService().getServiceDescriptor().getName())
        .collect(Collectors.toSet());
  }

  private static void add(
      ServerBuilder<?> server,
      List<BindableService> services,
      GrpcContext room,
      ServingState serving,
      boolean reflection) {
    server.intercept(room.memory());
    server.addService(serving.service());
    services.forEach(
        service -> server.addService(UnreadableRequestGuard.guard(service.bindService())));
    if (reflection) {
      server.addService(ProtoReflectionServiceV1.newInstance());
    }
  }

  /** Tells whoever asks for the server's health, from now on. Until then it is not serving. */
  public void serve() {
    serving.watch(threads.timer());
  }

  /** The port that is open, or {@link dev.kagzi.server.listen.ListenConfig#NONE}. */
  public int port() {
    return transports.port();
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
    transports.shutdown();
    calls.endAll();
    transports.awaitEnd(closeTimeout);
    gone.stop();
    threads.close();
  }
}
