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

/** The gRPC server. Thread-safe. */
public final class GrpcServer implements AutoCloseable {
  private static final int BLOCKING_CALLS_MAX = 1_000;

  private final Transports transports;
  private final ServingState serving;
  private final GrpcContext context;
  private final GoneCallers gone;
  private final GrpcThreads threads;
  private final Duration closeTimeout;

  private GrpcServer(
      Transports transports,
      ServingState serving,
      GrpcContext context,
      GoneCallers gone,
      GrpcThreads threads,
      Duration closeTimeout) {
    this.transports = transports;
    this.serving = serving;
    this.context = context;
    this.gone = gone;
    this.threads = threads;
    this.closeTimeout = closeTimeout;
  }

  /**
   * Opens the port and the in-process transport.
   *
   * @param notReadyReason returns why the server is not ready, or empty; may block
   * @param notReadyReasonLately the same, as known from the last seconds
   * @param closeTimeout how long a stop waits for calls in flight
   */
  public static GrpcServer start(
      GrpcSettings settings,
      Engine engine,
      Supplier<Optional<String>> notReadyReason,
      Supplier<Optional<String>> notReadyReasonLately,
      Duration closeTimeout)
      throws IOException {
    GrpcThreads threads = GrpcThreads.start(engine.threads());
    GoneCallers gone = new GoneCallers();
    CallMemory memory = new CallMemory(settings.memory());
    CallMetrics metrics = new CallMetrics(settings.metrics());
    GrpcContext context =
        new GrpcContext(
            engine,
            new BlockingCalls(BLOCKING_CALLS_MAX, engine.threads()),
            threads.senders(),
            threads.timer(),
            new OpenCalls(),
            memory,
            settings.tracing(),
            settings.callbacks());
    List<BindableService> services = new ArrayList<>();
    services.add(new WorkflowEndpoint(context));
    services.add(new WorkerEndpoint(context));
    services.add(new NamespaceEndpoint(context));
    services.add(new ScheduleEndpoint(context));
    Set<String> names = names(services);
    names.add(dev.kagzi.protocol.v1.AdminServiceGrpc.SERVICE_NAME);
    services.add(new AdminEndpoint(context, notReadyReason, names, settings.version()));
    ServingState serving = new ServingState(notReadyReasonLately, names);
    try {
      Transports transports =
          Transports.open(
              settings,
              threads,
              memory,
              server -> {
                add(server, services, context, serving, settings.reflection());
                // Interceptors run in reverse order of addition.
                server.intercept(gone);
                // Outside of all others: it also measures calls that they refuse or drop.
                server.intercept(metrics);
              });
      return new GrpcServer(transports, serving, context, gone, threads, closeTimeout);
    } catch (IOException e) {
      // The event loops end on purpose, so their end must not be reported as a failure.
      engine.threads().close();
      threads.close();
      context.tracing().close(closeTimeout);
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
      GrpcContext context,
      ServingState serving,
      boolean reflection) {
    server.intercept(context.memory());
    server.addService(serving.service());
    services.forEach(
        service -> server.addService(UnreadableRequestGuard.guard(service.bindService())));
    if (reflection) {
      server.addService(ProtoReflectionServiceV1.newInstance());
    }
  }

  /** Starts to report health through gRPC's health service. Until then it reports NOT_SERVING. */
  public void serve() {
    serving.watch(threads.timer());
  }

  public int port() {
    return transports.port();
  }

  public int openCalls() {
    return context.calls().size();
  }

  /**
   * Accepts no more calls, ends open polls and streams so that their callers reconnect, and lets
   * the other calls finish, up to the close timeout.
   */
  @Override
  public void close() {
    serving.stop();
    transports.shutdown();
    context.calls().endAll();
    transports.awaitEnd(closeTimeout);
    gone.stop();
    threads.close();
    context.tracing().close(closeTimeout);
  }
}
