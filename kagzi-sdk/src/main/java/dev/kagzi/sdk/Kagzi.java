package dev.kagzi.sdk;

import dev.kagzi.protocol.v1.AdminServiceGrpc;
import dev.kagzi.protocol.v1.GetServerInfoRequest;
import dev.kagzi.protocol.v1.GetServerInfoResponse;
import dev.kagzi.protocol.v1.SetDefaultVersionRequest;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.sdk.internal.client.RunCalls;
import dev.kagzi.sdk.internal.jdbc.OutboxPump;
import dev.kagzi.sdk.internal.metrics.ClientMetrics;
import dev.kagzi.sdk.internal.metrics.GuardedMetrics;
import dev.kagzi.sdk.internal.metrics.MicrometerMetrics;
import dev.kagzi.sdk.internal.otel.OpenTelemetryTracing;
import dev.kagzi.sdk.internal.run.NameRules;
import dev.kagzi.sdk.internal.run.RegisteredWorkflow;
import dev.kagzi.sdk.internal.trace.GuardedTracing;
import dev.kagzi.sdk.internal.trace.Tracing;
import dev.kagzi.sdk.internal.wire.Channels;
import dev.kagzi.sdk.internal.wire.Connection;
import dev.kagzi.sdk.internal.wire.Credentials;
import dev.kagzi.sdk.internal.wire.Payloads;
import dev.kagzi.sdk.internal.wire.RequestIds;
import dev.kagzi.sdk.internal.worker.WorkerGroup;
import dev.kagzi.sdk.internal.worker.WorkerSettings;
import dev.kagzi.sdk.jdbc.OutboxRelay;
import io.grpc.ClientInterceptors;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.micrometer.core.instrument.MeterRegistry;
import io.opentelemetry.api.OpenTelemetry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The client: connects to Kagzi servers, starts runs, waits for their results, and creates workers.
 *
 * <pre>{@code
 * static final WorkflowType<Order, Receipt> PROCESS_ORDER =
 *     WorkflowType.of("process-order", Order.class, Receipt.class).queue("orders");
 *
 * try (Kagzi kagzi = Kagzi.connect("localhost:50051")) {
 *   Worker worker = kagzi.worker("orders").workflow(PROCESS_ORDER, Orders::process).start();
 *   RunHandle<Receipt> run = kagzi.workflow(PROCESS_ORDER).id("order-42").start(order);
 *   Receipt receipt = run.result();
 * }
 * }</pre>
 *
 * <p><b>Queues.</b> A run belongs to exactly one task queue, and only workers of that queue receive
 * it. Set the queue in the {@linkplain WorkflowType#queue type}, so that starters and workers
 * agree. {@link WorkflowStarter#queue} describes the default.
 *
 * <p>Create one client per application. It is thread-safe, and it batches concurrent starts. Every
 * call to the server may throw {@link ServerUnavailableException} and {@link
 * RequestRefusedException}; the methods list only further exceptions, and cases in which one of the
 * two needs an explanation.
 */
public final class Kagzi implements AutoCloseable {
  private static final Pattern RUN_ID =
      Pattern.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");

  /** The default task queue: {@link WorkflowStarter#queue}. */
  public static final String DEFAULT_QUEUE = "default";

  /** The namespace of a client that sets none. */
  public static final String DEFAULT_NAMESPACE = "default";

  static final Executor CALLBACKS = task -> Thread.ofVirtual().name("kagzi-callback").start(task);

  private final Connection connection;
  private final Payloads payloads;
  private final RunCalls runs;
  private final List<Worker> workers = new CopyOnWriteArrayList<>();
  private final List<OutboxPump> relays = new CopyOnWriteArrayList<>();

  /** The workflows of all workers that this client started, by type and version. */
  private final Map<String, RegisteredWorkflow<?, ?>> served = new ConcurrentHashMap<>();

  private final List<ClientInterceptor> interceptors;
  private final List<WorkerInterceptor> workerInterceptors;
  private final Tracing tracing;
  private final ClientMetrics metrics;

  private Kagzi(
      Connection connection,
      Payloads payloads,
      ClientMetrics metrics,
      List<ClientInterceptor> interceptors,
      List<WorkerInterceptor> workerInterceptors,
      Tracing tracing) {
    this.connection = connection;
    this.metrics = metrics;
    this.interceptors = List.copyOf(interceptors);
    this.workerInterceptors = List.copyOf(workerInterceptors);
    this.payloads = payloads;
    this.tracing = tracing;
    this.runs = new RunCalls(connection, payloads);
  }

  /**
   * Creates a client with default options. The first call, or the first worker, opens the
   * connection. If no server answers, the client then tries again about once a second. {@link
   * #ping} checks whether a server answers.
   *
   * @param address {@code host:port}, or several separated by commas: servers of one database; the
   *     client uses the first that answers
   * @throws IllegalArgumentException if the address has another form
   */
  public static Kagzi connect(String address) {
    return builder().address(address).connect();
  }

  /** Returns a builder for a client with options. */
  public static Builder builder() {
    return new Builder();
  }

  /** Runs callbacks on a virtual thread: those of applications may block. */
  static <T> CompletableFuture<T> withCallbacks(CompletableFuture<T> answer) {
    // Not thenApplyAsync: if the future fails, the thread that completes it would run the
    // callbacks, for example the timer of the heartbeats.
    return answer.whenCompleteAsync((value, error) -> {}, CALLBACKS);
  }

  /** Returns a builder that starts runs of this type. */
  public <I, O> WorkflowStarter<I, O> workflow(WorkflowType<I, O> type) {
    return new WorkflowStarter<>(runs, type, interceptors, tracing);
  }

  /**
   * Returns a handle for an existing run, without a call to the server.
   *
   * @param runId the run's id, a UUID; {@link #run(WorkflowType, String)} takes the id set at the
   *     start
   * @throws IllegalArgumentException if {@code runId} is not a UUID
   */
  public <O> RunHandle<O> run(String runId, WorkflowType<?, O> type) {
    if (!RUN_ID.matcher(runId).matches()) {
      throw new IllegalArgumentException(
          "runId: %s (expected: a UUID; run(type, id) finds the run with this id)"
              .formatted(runId));
    }
    return new RunHandle<>(runs, type, runId, true);
  }

  /**
   * Returns a handle for the latest run with this id, finished or not: {@link WorkflowStarter#id}.
   * The server is called once; the handle refers to that run even if a later run gets the same id.
   *
   * @throws RunNotFoundException if no run has this id
   * @throws RunExistsException if the run is of another type
   */
  public <O> RunHandle<O> run(WorkflowType<?, O> type, String workflowId) {
    Workflow found = runs.getByWorkflowId(workflowId);
    if (!found.getWorkflowType().equals(type.name())) {
      throw new RunExistsException(
          workflowId,
          found.getRunId(),
          "id %s is that of run %s of type %s (expected: a run of type %s)"
              .formatted(workflowId, found.getRunId(), found.getWorkflowType(), type.name()));
    }
    return new RunHandle<>(runs, type, found.getRunId(), true);
  }

  /**
   * Returns the current state of a run.
   *
   * @throws RunNotFoundException if the run does not exist
   */
  public RunInfo get(String runId) {
    return RunHandle.info(runs, runs.get(runId));
  }

  /**
   * Returns the recorded history of a run with every attempt of its steps, for inspection or for a
   * {@link Replayer}.
   *
   * @throws RunNotFoundException if the run does not exist
   */
  public RunHistory history(String runId) {
    return new RunHistory(runs.history(runId));
  }

  /** Returns a replayer with this client's codec and the workflows of its workers. */
  public Replayer replayer() {
    Replayer replayer = new Replayer(payloads);
    served.values().forEach(replayer::serve);
    return replayer;
  }

  /**
   * Returns the current state of the latest run with this id, finished or not: {@link
   * WorkflowStarter#id}.
   *
   * @throws RunNotFoundException if no run has this id
   */
  public RunInfo getByWorkflowId(String workflowId) {
    return RunHandle.info(runs, runs.getByWorkflowId(workflowId));
  }

  /** Returns a query that lists runs by filter, newest first. */
  public RunList list() {
    return new RunList(runs);
  }

  /** Returns a handle for the schedule with this name. The schedule need not exist. */
  public Schedule schedule(String name) {
    return new Schedule(connection, runs, NameRules.check("name", name));
  }

  /** Returns a query that lists schedules. */
  public Schedules schedules() {
    return new Schedules(connection);
  }

  /**
   * Sets the default version of a workflow type: runs that are started without a version get it.
   * Existing runs keep their version. Example: {@code
   * kagzi.setDefaultVersion(PROCESS_ORDER.version("2"))}.
   *
   * @return the previous default version; empty if there was none
   */
  public String setDefaultVersion(WorkflowType<?, ?> type) {
    SetDefaultVersionRequest request =
        SetDefaultVersionRequest.newBuilder()
            .setNamespace(connection.namespace())
            .setWorkflowType(type.name())
            .setVersion(type.version())
            .build();
    return connection
        .call(AdminServiceGrpc.getSetDefaultVersionMethod(), request)
        .getFormerVersion();
  }

  /**
   * Checks that a server answers within the client's {@link Builder#callTimeout}.
   *
   * @return which server answered, and how long that took
   * @throws ServerUnavailableException if no server answered; the message contains the address and
   *     the reason
   * @throws RequestRefusedException if the server rejects this client, for example because of its
   *     token
   */
  public PingResult ping() {
    return ping(connection.callTimeout());
  }

  /** Like {@link #ping()}, with the given timeout. */
  public PingResult ping(Duration timeout) {
    long startNanos = System.nanoTime();
    Map.Entry<GetServerInfoResponse, String> answer =
        connection.ask(
            AdminServiceGrpc.getGetServerInfoMethod(),
            GetServerInfoRequest.getDefaultInstance(),
            timeout);
    return new PingResult(
        answer.getValue(),
        answer.getKey().getVersion(),
        Duration.ofNanos(System.nanoTime() - startNanos));
  }

  /** Returns the operations on namespaces: create, change, list. */
  public Namespaces namespaces() {
    return new Namespaces(connection);
  }

  /** Returns what operators need: counts, queues and workers of the namespace. */
  public Admin admin() {
    return new Admin(connection);
  }

  /**
   * Returns a builder for a worker of these queues. Without queues, the worker serves the queues of
   * its workflow types. Each queue has its own registration with {@link
   * WorkerBuilder#maxConcurrent} slots.
   */
  public WorkerBuilder worker(String... queues) {
    return new WorkerBuilder(this, List.of(queues), workerInterceptors);
  }

  /**
   * Returns all workers that this client started, including closed ones. {@link Admin#workers}
   * lists those of all programs.
   */
  public List<Worker> workers() {
    return List.copyOf(workers);
  }

  /**
   * Starts a relay that sends the rows of the outbox in this database: the starts of {@link
   * WorkflowStarter#startInOutbox} and the signals of {@link RunHandle#signalInOutbox}, in this
   * client's namespace. Several relays may work on one outbox. While it is empty, it is queried
   * every 100 ms. Errors, such as a missing table, are not thrown: {@link OutboxRelay#problems}.
   * Closing the client closes its relays.
   */
  public OutboxRelay relayOutbox(DataSource dataSource) {
    return relayOutbox(dataSource, Duration.ofMillis(100));
  }

  /**
   * Like {@link #relayOutbox(DataSource)}, with the interval between two queries while the outbox
   * is empty.
   */
  public OutboxRelay relayOutbox(DataSource dataSource, Duration interval) {
    if (interval.toMillis() < 1) {
      throw new IllegalArgumentException("interval: " + interval + " (expected: at least 1 ms)");
    }
    OutboxPump relay =
        new OutboxPump(
            Objects.requireNonNull(dataSource, "dataSource"),
            connection.namespace(),
            interval,
            OutboxMessages.sender(runs));
    relays.removeIf(OutboxPump::isClosed);
    relays.add(relay);
    return relay;
  }

  /** Returns the relays that this client has started and that are not closed. */
  public List<OutboxRelay> relays() {
    return relays.stream().filter(relay -> !relay.isClosed()).map(OutboxRelay.class::cast).toList();
  }

  /** Returns the namespace of this client: {@link Builder#namespace}. */
  public String namespace() {
    return connection.namespace();
  }

  Tracing tracing() {
    return tracing;
  }

  Worker start(List<WorkerSettings> settings, boolean drainOnShutdown) {
    Worker worker = WorkerGroup.start(connection, payloads, metrics, settings, drainOnShutdown);
    workers.add(worker);
    for (WorkerSettings each : settings) {
      each.codes().forEach(code -> runs.queueHints().addServed(code.type().name(), each.queue()));
      each.codes().forEach(code -> served.put(code.type().toString(), code));
    }
    return worker;
  }

  /**
   * Closes the relays, drains the running workers, then closes the connection. Each worker releases
   * the runs that it has not finished within its drain timeout, so that other workers continue
   * them. Calls of a closed client throw {@link IllegalStateException} or {@link
   * ServerUnavailableException}.
   */
  @Override
  public void close() {
    relays.forEach(OutboxPump::close);
    workers.forEach(Worker::shutdown);
    workers.forEach(Worker::close);
    runs.close();
    connection.close();
  }

  /** The options of a client. Not thread-safe. */
  public static final class Builder {
    private final List<String> addresses = new ArrayList<>();
    private String namespace = DEFAULT_NAMESPACE;
    private @Nullable PayloadCodec codec;
    private Duration callTimeout = Duration.ofSeconds(10);
    private Credentials credentials = Credentials.NONE;
    private @Nullable String inProcessName;
    private final List<ClientInterceptor> interceptors = new ArrayList<>();
    private final List<WorkerInterceptor> workerInterceptors = new ArrayList<>();
    private final List<io.grpc.ClientInterceptor> grpcInterceptors = new ArrayList<>();
    private @Nullable OpenTelemetry openTelemetry;
    private int tracesPerSecondMax = 100;
    private UnaryOperator<ManagedChannelBuilder<?>> channelOptions = UnaryOperator.identity();
    private Function<String, ClientMetrics> metrics = inNamespace -> ClientMetrics.NONE;

    private Builder() {}

    /**
     * Adds servers: {@code host:port}, or several separated by commas. May be called several times.
     * Names are resolved again when a connection fails.
     *
     * @throws IllegalArgumentException if the address has another form
     */
    public Builder address(String address) {
      addresses.addAll(Channels.parse(address));
      return this;
    }

    /** Sets the namespace that the client works in; {@value Kagzi#DEFAULT_NAMESPACE} by default. */
    public Builder namespace(String namespace) {
      this.namespace = NameRules.check("namespace", namespace);
      return this;
    }

    /**
     * Sets how inputs, results, signals, published values and step progress are encoded; {@link
     * JacksonCodec} by default.
     */
    public Builder codec(PayloadCodec codec) {
      this.codec = Objects.requireNonNull(codec, "codec");
      return this;
    }

    /**
     * Sets how long a call may take, including its retries, before it fails with {@link
     * ServerUnavailableException}; 10 s by default.
     *
     * <p>It applies to every call with one response, for example starts, lookups and cancels. A
     * start that waits in the client's queue fails only if the server has answered no start for
     * this long, so a long queue that makes progress does not time out. Waiting for a result and
     * the calls of workers have no timeout: {@code docs/client.md} lists what each call does while
     * no server answers.
     */
    public Builder callTimeout(Duration timeout) {
      if (!timeout.isPositive()) {
        throw new IllegalArgumentException("callTimeout: " + timeout + " (expected: > 0)");
      }
      this.callTimeout = timeout;
      return this;
    }

    /**
     * Connects to a server in this process without a socket. Use it instead of {@link #address};
     * token and TLS are not used.
     *
     * @param name the {@code inProcessName()} of the server
     */
    public Builder inProcess(String name) {
      this.inProcessName = Objects.requireNonNull(name, "name");
      return this;
    }

    /**
     * Sets the token that the server was started with. It is sent with every call, so use {@link
     * #tls} on networks that others can read.
     */
    public Builder token(String token) {
      this.credentials = credentials.withToken(token);
      return this;
    }

    /**
     * Like {@link #token}, with the first line of a file. This call reads the file.
     *
     * @throws IllegalArgumentException if the file cannot be read
     */
    public Builder tokenFile(Path file) {
      this.credentials = credentials.withTokenFile(file);
      return this;
    }

    /**
     * Encrypts the connection and verifies the server's certificate with the JVM's certificate
     * authorities. Without this, {@link #tlsCa} and {@link #tlsClient}, the connection is not
     * encrypted.
     */
    public Builder tls() {
      this.credentials = credentials.withTls();
      return this;
    }

    /** Like {@link #tls}, with your own authorities: a PEM file with one or more certificates. */
    public Builder tlsCa(Path ca) {
      this.credentials = credentials.withCa(ca);
      return this;
    }

    /**
     * Like {@link #tls}, and authenticates the client with a certificate (mutual TLS).
     *
     * @param cert a PEM file with the certificate and its chain
     * @param key a PEM file with its private key (PKCS#8)
     */
    public Builder tlsClient(Path cert, Path key) {
      this.credentials = credentials.withClient(cert, key);
      return this;
    }

    /** Adds an interceptor of starts. The first that is added is the outermost. */
    public Builder interceptor(ClientInterceptor interceptor) {
      interceptors.add(Objects.requireNonNull(interceptor, "interceptor"));
      return this;
    }

    /**
     * Adds an interceptor of the runs and steps of all workers of this client. It wraps the
     * workers' own interceptors.
     */
    public Builder workerInterceptor(WorkerInterceptor interceptor) {
      workerInterceptors.add(Objects.requireNonNull(interceptor, "interceptor"));
      return this;
    }

    /**
     * Adds an interceptor of every gRPC call of the client and its workers. The first that is added
     * is the outermost. If it throws, the call fails with the gRPC status of the exception ({@code
     * UNKNOWN} if it has none), usually as a {@link RequestRefusedException}. Workers log that and
     * try again.
     */
    public Builder grpcInterceptor(io.grpc.ClientInterceptor interceptor) {
      grpcInterceptors.addFirst(Objects.requireNonNull(interceptor, "interceptor"));
      return this;
    }

    /**
     * Traces the starts of this client and the runs of its workers with OpenTelemetry; off by
     * default. At most {@link #tracesPerSecondMax} traces begin per second. The trace context of a
     * start is stored in the headers of its run, so all executions, steps and children of the run
     * are in one trace. {@code docs/tracing.md} describes the spans.
     *
     * <p>An exception that the telemetry throws is logged and changes no run.
     */
    public Builder openTelemetry(OpenTelemetry openTelemetry) {
      this.openTelemetry = Objects.requireNonNull(openTelemetry, "openTelemetry");
      return this;
    }

    /**
     * Limits how many traces this client begins if it has an {@link #openTelemetry}: at most this
     * many per second on average, with bursts of up to one second's number. 100 by default; 0
     * begins none, {@code Integer.MAX_VALUE} traces all starts.
     *
     * <p>The limit has an effect only on starts without a current span: a start below a span of the
     * application is always in the trace of that span. A start over the limit is not traced, and
     * neither are the executions, steps and children of its run, so that each trace is either whole
     * or absent.
     *
     * <p>The limit exists because the spans of all runs would take up to a fourth of the processor
     * time where thousands of runs start per second.
     */
    public Builder tracesPerSecondMax(int traces) {
      if (traces < 0) {
        throw new IllegalArgumentException("tracesPerSecondMax: " + traces + " (expected: >= 0)");
      }
      this.tracesPerSecondMax = traces;
      return this;
    }

    /**
     * Sets the Micrometer registry for the meters of this client and its workers; none by default.
     * {@code docs/metrics.md} lists the meters. An exception that the registry throws is logged and
     * changes no run.
     */
    public Builder meterRegistry(MeterRegistry registry) {
      Objects.requireNonNull(registry, "registry");
      this.metrics =
          inNamespace -> new GuardedMetrics(new MicrometerMetrics(registry, inNamespace));
      return this;
    }

    /** Customizes the gRPC channel after all other options, for example with a proxy. */
    public Builder channel(UnaryOperator<ManagedChannelBuilder<?>> options) {
      this.channelOptions = Objects.requireNonNull(options, "options");
      return this;
    }

    /**
     * Creates the client; the first call connects: {@link Kagzi#connect}.
     *
     * @throws IllegalStateException unless exactly one of {@link #address} and {@link #inProcess}
     *     is set
     * @throws IllegalArgumentException if a certificate file cannot be read
     */
    public Kagzi connect() {
      ManagedChannel channel = open(channelOptions);
      ClientMetrics measured = metrics.apply(namespace);
      // gRPC calls the first interceptor last, so the metrics measure calls as they are sent.
      List<io.grpc.ClientInterceptor> ofCalls = new ArrayList<>(measured.interceptors());
      ofCalls.addAll(grpcInterceptors);
      Connection connection =
          new Connection(
              channel,
              ClientInterceptors.intercept(channel, ofCalls),
              inProcessName == null ? String.join(",", addresses) : "the server in this process",
              namespace,
              callTimeout);
      PayloadCodec used = codec == null ? JacksonCodec.DEFAULT : codec;
      return new Kagzi(
          connection,
          new Payloads(new FailedEventCodec(used)),
          measured,
          interceptors,
          workerInterceptors,
          tracing());
    }

    private Tracing tracing() {
      return openTelemetry == null
          ? Tracing.OFF
          : new GuardedTracing(new OpenTelemetryTracing(openTelemetry, tracesPerSecondMax));
    }

    /**
     * Opens only a gRPC channel with these options, for stubs of the protocol ({@code
     * kagzi-protocol}). Each request that has a field {@code request_id} gets one, by which the
     * server recognizes a repeated call. Calls are not retried and have no timeout. The caller
     * closes the channel.
     *
     * @throws IllegalStateException unless exactly one of {@link #address} and {@link #inProcess}
     *     is set
     */
    public ManagedChannel openChannel() {
      return open(
          builder ->
              channelOptions
                  .apply(builder)
                  .intercept(RequestIds.interceptor())
                  .intercept(grpcInterceptors));
    }

    private ManagedChannel open(UnaryOperator<ManagedChannelBuilder<?>> options) {
      String name = inProcessName;
      if (addresses.isEmpty() == (name == null)) {
        throw new IllegalStateException(
            "address: %s, inProcess: %s (expected: one of them, such as address(\"host:port\"))"
                .formatted(addresses.isEmpty() ? "none" : addresses, name == null ? "none" : name));
      }
      return name == null
          ? Channels.open(addresses, credentials, options)
          : Channels.inProcess(name, options);
    }
  }
}
