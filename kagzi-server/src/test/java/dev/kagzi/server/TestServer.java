package dev.kagzi.server;

import dev.kagzi.postgres.EmbeddedPostgres;
import dev.kagzi.postgres.SharedPostgres;
import dev.kagzi.protocol.v1.AdminServiceGrpc;
import dev.kagzi.protocol.v1.NamespaceServiceGrpc;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.WorkerServiceGrpc;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import dev.kagzi.server.config.Settings;
import io.grpc.ClientInterceptor;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/** A server on its own database, and a channel to it. */
public final class TestServer implements AutoCloseable {
  private static final Duration CALL_MAX = Duration.ofSeconds(20);

  private final String database;
  private final KagziServer server;
  private final ManagedChannel channel;

  private TestServer(String database, KagziServer server) {
    this.database = database;
    this.server = server;
    this.channel = channel();
  }

  public static TestServer start() {
    return start(createDatabase(), config -> config);
  }

  /** Creates a migrated database, a copy of one that is migrated once per JVM. */
  public static String createDatabase() {
    return SharedPostgres.createDatabaseFrom(Template.NAME);
  }

  private static final class Template {
    static final String NAME = create();

    private static String create() {
      String name = SharedPostgres.createDatabase();
      KagziServer.migrate(config(name));
      return name;
    }
  }

  /** Starts a server on a database that other servers may share. */
  public static TestServer start(String database, UnaryOperator<ServerConfig.Builder> settings) {
    return new TestServer(database, KagziServer.start(settings.apply(config(database)).build()));
  }

  /** Returns the common configuration of test servers. */
  public static ServerConfig.Builder config(String database) {
    return config(database, Map.of());
  }

  /** Like {@link #config(String)}, with options that are given as environment variables. */
  public static ServerConfig.Builder config(String database, Map<String, String> options) {
    EmbeddedPostgres postgres = SharedPostgres.server();
    return ServerConfig.builder(Settings.of(Settings.Sources.environment(options)))
        .grpcPort(0)
        .httpPort(0)
        .dbUrl(postgres.jdbcUrl(database))
        .dbUser(postgres.user())
        .dbPassword(postgres.password())
        .unsafeDatabase()
        .closeTimeout(Duration.ofSeconds(5));
  }

  /** Opens a new connection. */
  public ManagedChannel channel(ClientInterceptor... interceptors) {
    return NettyChannelBuilder.forAddress("127.0.0.1", server.grpcPort())
        .usePlaintext()
        .maxInboundMessageSize(64 << 20)
        .intercept(interceptors)
        .build();
  }

  public KagziServer server() {
    return server;
  }

  public ManagedChannel sharedChannel() {
    return channel;
  }

  public String database() {
    return database;
  }

  public WorkflowServiceGrpc.WorkflowServiceBlockingStub workflows() {
    return WorkflowServiceGrpc.newBlockingStub(channel)
        .withDeadlineAfter(CALL_MAX.toSeconds(), TimeUnit.SECONDS);
  }

  public WorkerServiceGrpc.WorkerServiceBlockingStub workers() {
    return WorkerServiceGrpc.newBlockingStub(channel)
        .withDeadlineAfter(CALL_MAX.toSeconds(), TimeUnit.SECONDS);
  }

  public AdminServiceGrpc.AdminServiceBlockingStub admin() {
    return AdminServiceGrpc.newBlockingStub(channel)
        .withDeadlineAfter(CALL_MAX.toSeconds(), TimeUnit.SECONDS);
  }

  public NamespaceServiceGrpc.NamespaceServiceBlockingStub namespaces() {
    return NamespaceServiceGrpc.newBlockingStub(channel)
        .withDeadlineAfter(CALL_MAX.toSeconds(), TimeUnit.SECONDS);
  }

  /** Starts a run and returns its id. */
  public String startRun(String queue, String type) {
    return workflows().startWorkflow(start(queue, type).build()).getRunId();
  }

  public static StartWorkflowRequest.Builder start(String queue, String type) {
    return StartWorkflowRequest.newBuilder()
        .setTaskQueue(queue)
        .setWorkflowType(type)
        .setInput(payload("\"in\""));
  }

  public static Payload payload(String json) {
    return Payload.newBuilder()
        .setData(com.google.protobuf.ByteString.copyFromUtf8(json))
        .putMetadata("content-type", "application/json")
        .build();
  }

  /** Returns the run. */
  public Workflow run(String runId) {
    return workflows()
        .getWorkflow(dev.kagzi.protocol.v1.GetWorkflowRequest.newBuilder().setRunId(runId).build())
        .getWorkflow();
  }

  @Override
  public void close() {
    channel.shutdownNow();
    server.close();
  }
}
