package dev.kagzi.sdk;

import dev.kagzi.protocol.v1.AdminServiceGrpc;
import dev.kagzi.protocol.v1.GetServerInfoRequest;
import dev.kagzi.protocol.v1.GetServerInfoResponse;
import dev.kagzi.protocol.v1.SetDefaultVersionRequest;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.sdk.internal.client.RunCalls;
import dev.kagzi.sdk.internal.run.NameRules;
import dev.kagzi.sdk.internal.run.RegisteredWorkflow;
import dev.kagzi.sdk.internal.wire.Channels;
import dev.kagzi.sdk.internal.wire.Connection;
import dev.kagzi.sdk.internal.wire.Credentials;
import dev.kagzi.sdk.internal.wire.Payloads;
import dev.kagzi.sdk.internal.worker.WorkerGroup;
import dev.kagzi.sdk.internal.worker.WorkerSettings;
import io.grpc.ClientInterceptors;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The connection to Kagzi: starts runs, waits for them, and makes workers.
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
 * <p><b>Queues.</b> A run goes to exactly one task queue, and only workers of that queue receive
 * it. The start names it ({@link WorkflowStarter#queue}), else the workflow's type does ({@link
 * WorkflowType#queue}), else it is {@value #DEFAULT_QUEUE}. A type that carries its queue keeps
 * starters and workers in agreement.
 *
 * <p>One object serves a whole application: it is thread-safe, and what its threads do at the same
 * time travels together.
 */
public final class Kagzi implements AutoCloseable {
  private static final Pattern RUN_ID =
      Pattern.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");

  /** Where runs go when neither the start nor the type says otherwise. */
  public static final String DEFAULT_QUEUE = "default";

  /** The namespace of a client that names none. */
  public static final String DEFAULT_NAMESPACE = "default";

  /** Where futures of ours complete: callers may do there what they like. */
  static final Executor CALLBACKS = task -> Thread.ofVirtual().name("kagzi-callback").start(task);

  private final Connection connection;
  private final Payloads payloads;
  private final RunCalls runs;
  private final List<Worker> workers = new CopyOnWriteArrayList<>();

  /** What its workers serve, or have served, by type and version. */
  private final Map<String, RegisteredWorkflow<?, ?>> served = new ConcurrentHashMap<>();

  private final List<ClientInterceptor> interceptors;
  private final List<WorkerInterceptor> workerInterceptors;

  private Kagzi(
      Connection connection,
      Payloads payloads,
      List<ClientInterceptor> interceptors,
      List<WorkerInterceptor> workerInterceptors) {
    this.connection = connection;
    this.interceptors = List.copyOf(interceptors);
    this.workerInterceptors = List.copyOf(workerInterceptors);
    this.payloads = payloads;
    this.runs = new RunCalls(connection, payloads);
  }

  /**
   * Connects with the defaults. Does not wait, and does not fail if no server answers: the
   * connection is tried about once a second for as long as the client is open. {@link #ping} tells
   * whether there is a server.
   *
   * @param address {@code host:port}, or several separated by commas: servers of one database, of
   *     which the first that answers is used
   */
  public static Kagzi connect(String address) {
    return builder().address(address).connect();
  }

  /** A connection with options. */
  public static Builder builder() {
    return new Builder();
  }

  /** Starts runs of this type. */
  public <I, O> WorkflowStarter<I, O> workflow(WorkflowType<I, O> type) {
    return new WorkflowStarter<>(runs, type, interceptors);
  }

  /**
   * A handle on a run that was started before, or elsewhere. Does not ask the server.
   *
   * @param runId the run's own; {@link #run(WorkflowType, String)} takes the id that its start gave
   *     it
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
   * A handle on the latest run with this id, finished or not: {@link WorkflowStarter#id}. Asks the
   * server once, and stays with that run.
   *
   * @throws RunNotFoundException if there is none
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
   * What is known of a run.
   *
   * @throws RunNotFoundException if there is no such run
   */
  public RunInfo get(String runId) {
    return RunHandle.info(runs, runs.get(runId));
  }

  /**
   * What is recorded of a run, with every attempt of its steps: to look at, or to replay.
   *
   * @throws RunNotFoundException if there is no such run
   */
  public RunHistory history(String runId) {
    return new RunHistory(runs.history(runId));
  }

  /** A replayer with this client's codec and the workflows of all workers that it has started. */
  public Replayer replayer() {
    Replayer replayer = new Replayer(payloads);
    served.values().forEach(replayer::serve);
    return replayer;
  }

  /**
   * The latest run with this id, finished or not: {@link WorkflowStarter#id}.
   *
   * @throws RunNotFoundException if there is none
   */
  public RunInfo getByWorkflowId(String workflowId) {
    return RunHandle.info(runs, runs.getByWorkflowId(workflowId));
  }

  /** Runs by filter, newest first. */
  public RunList list() {
    return new RunList(runs);
  }

  /** The schedule of this name, whether there is one or not. Does not ask the server. */
  public Schedule schedule(String name) {
    return new Schedule(connection, runs, NameRules.check("name", name));
  }

  /** Lists schedules. */
  public Schedules schedules() {
    return new Schedules(connection);
  }

  /**
   * Makes the type's version the one of all runs that are started without one: {@code
   * kagzi.setDefaultVersion(PROCESS_ORDER.version("2"))}. What has started stays on its version.
   *
   * @return what it was before; empty if there was none
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
   * Asks the server for a sign of life, within the client's {@link Builder#callTimeout}.
   *
   * @return which server has answered, and how long that took
   * @throws ServerUnavailableException if none has; the message has the address and the reason
   * @throws RequestRefusedException if the server refuses this client, such as for its token
   */
  public PingResult ping() {
    return ping(connection.callTimeout());
  }

  /** As {@link #ping()}, with a limit of its own. */
  public PingResult ping(Duration timeout) {
    long begunNanos = System.nanoTime();
    Map.Entry<GetServerInfoResponse, String> answer =
        connection.ask(
            AdminServiceGrpc.getGetServerInfoMethod(),
            GetServerInfoRequest.getDefaultInstance(),
            timeout);
    return new PingResult(
        answer.getValue(),
        answer.getKey().getVersion(),
        Duration.ofNanos(System.nanoTime() - begunNanos));
  }

  /** Creates, changes and lists namespaces. */
  public Namespaces namespaces() {
    return new Namespaces(connection);
  }

  /**
   * A worker for these queues; without any, for the queues that its workflows' types carry. Each
   * queue is a registration of its own, with {@link WorkerBuilder#maxConcurrent} runs at once.
   */
  public WorkerBuilder worker(String... queues) {
    return new WorkerBuilder(this, List.of(queues), workerInterceptors);
  }

  /** All workers that it has started, those that have ended included. */
  public List<Worker> workers() {
    return List.copyOf(workers);
  }

  Worker start(List<WorkerSettings> settings, boolean drainOnShutdown) {
    Worker worker = WorkerGroup.start(connection, payloads, settings, drainOnShutdown);
    workers.add(worker);
    for (WorkerSettings each : settings) {
      each.codes().forEach(code -> runs.queueHints().served(code.type().name(), each.queue()));
      each.codes().forEach(code -> served.put(code.type().toString(), code));
    }
    return worker;
  }

  /** Drains the workers that are still running, then lets go of the server. */
  @Override
  public void close() {
    workers.forEach(Worker::shutdown);
    workers.forEach(Worker::close);
    runs.close();
    connection.close();
  }

  /** Options of a connection. Not thread-safe. */
  public static final class Builder {
    private final List<String> addresses = new ArrayList<>();
    private String namespace = DEFAULT_NAMESPACE;
    private PayloadCodec codec = JacksonCodec.DEFAULT;
    private Duration callTimeout = Duration.ofSeconds(10);
    private Credentials credentials = Credentials.NONE;
    private @Nullable String inProcessName;
    private final List<ClientInterceptor> interceptors = new ArrayList<>();
    private final List<WorkerInterceptor> workerInterceptors = new ArrayList<>();
    private final List<io.grpc.ClientInterceptor> grpcInterceptors = new ArrayList<>();
    private UnaryOperator<ManagedChannelBuilder<?>> channelOptions = UnaryOperator.identity();

    private Builder() {}

    /** {@code host:port}, or several separated by commas; may be called several times. */
    public Builder address(String address) {
      addresses.addAll(Channels.parse(address));
      return this;
    }

    public Builder namespace(String namespace) {
      this.namespace = NameRules.check("namespace", namespace);
      return this;
    }

    /** How inputs and results become bytes; JSON by Jackson if not set. */
    public Builder codec(PayloadCodec codec) {
      this.codec = Objects.requireNonNull(codec, "codec");
      return this;
    }

    /**
     * How long a call may take at most, with all its tries, before it fails with {@link
     * ServerUnavailableException}; 10 s if not set. Holds for starts, look-ups, cancels, schedules
     * and all else that asks the server once. While a server works through many starts, the time
     * counts from its last answer. Waiting for results and workers know no such limit: {@code
     * docs/client.md} lists what each call does while no server answers.
     */
    public Builder callTimeout(Duration timeout) {
      if (!timeout.isPositive()) {
        throw new IllegalArgumentException("callTimeout: " + timeout + " (expected: > 0)");
      }
      this.callTimeout = timeout;
      return this;
    }

    /**
     * A server in this process, reached without a socket: what its {@code inProcessName()} says.
     * Takes the place of {@link #address}; token and TLS are not asked for.
     */
    public Builder inProcess(String name) {
      this.inProcessName = Objects.requireNonNull(name, "name");
      return this;
    }

    /**
     * What the server wants to see, if it was started with a token. Travels with every call, so
     * that it wants {@link #tls} wherever others can read the network.
     */
    public Builder token(String token) {
      this.credentials = credentials.withToken(token);
      return this;
    }

    /** The same from the first line of a file, which is read now. */
    public Builder tokenFile(Path file) {
      this.credentials = credentials.withTokenFile(file);
      return this;
    }

    /**
     * Encrypts the connection, and checks the server's certificate by the authorities that the JVM
     * knows. Without it, and without {@link #tlsCa} and {@link #tlsClient}, nothing is encrypted.
     */
    public Builder tls() {
      this.credentials = credentials.withTls();
      return this;
    }

    /**
     * The same with authorities of your own.
     *
     * @param ca a file with one or more certificates in PEM
     */
    public Builder tlsCa(Path ca) {
      this.credentials = credentials.withCa(ca);
      return this;
    }

    /**
     * Shows a certificate to a server that asks its clients for one (mutual TLS).
     *
     * @param cert a file with the certificate and its chain in PEM
     * @param key a file with its private key in PEM (PKCS#8)
     */
    public Builder tlsClient(Path cert, Path key) {
      this.credentials = credentials.withClient(cert, key);
      return this;
    }

    /** Stands around starts; of several the first is the outermost. */
    public Builder interceptor(ClientInterceptor interceptor) {
      interceptors.add(Objects.requireNonNull(interceptor, "interceptor"));
      return this;
    }

    /** Stands around runs and steps of all workers, outside of their own interceptors. */
    public Builder workerInterceptor(WorkerInterceptor interceptor) {
      workerInterceptors.add(Objects.requireNonNull(interceptor, "interceptor"));
      return this;
    }

    /**
     * Sees every gRPC call of the client and its workers, and may change or refuse it; may be
     * called several times, the first sees a call first.
     */
    public Builder grpcInterceptor(io.grpc.ClientInterceptor interceptor) {
      grpcInterceptors.addFirst(Objects.requireNonNull(interceptor, "interceptor"));
      return this;
    }

    /** The last word on the gRPC channel: proxies, limits. */
    public Builder channel(UnaryOperator<ManagedChannelBuilder<?>> options) {
      this.channelOptions = Objects.requireNonNull(options, "options");
      return this;
    }

    public Kagzi connect() {
      String name = inProcessName;
      if (addresses.isEmpty() == (name == null)) {
        throw new IllegalStateException(
            "address: %s, inProcess: %s (expected: one of them, such as address(\"host:port\"))"
                .formatted(addresses.isEmpty() ? "none" : addresses, name == null ? "none" : name));
      }
      ManagedChannel channel =
          name == null
              ? Channels.open(addresses, credentials, channelOptions)
              : Channels.inProcess(name, channelOptions);
      Connection connection =
          new Connection(
              channel,
              ClientInterceptors.intercept(channel, grpcInterceptors),
              name == null ? String.join(",", addresses) : "the server in this process",
              namespace,
              callTimeout);
      return new Kagzi(
          connection, new Payloads(new FailedEventCodec(codec)), interceptors, workerInterceptors);
    }
  }
}
