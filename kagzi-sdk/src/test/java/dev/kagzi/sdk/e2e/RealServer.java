package dev.kagzi.sdk.e2e;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.postgres.EmbeddedPostgres;
import dev.kagzi.postgres.SharedPostgres;
import dev.kagzi.protocol.v1.AdminServiceGrpc;
import dev.kagzi.protocol.v1.ListStepsRequest;
import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.protocol.v1.Step;
import dev.kagzi.protocol.v1.WorkerServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowScheduleServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import dev.kagzi.server.KagziServer;
import dev.kagzi.server.ServerConfig;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/** A server with its own database, which can be stopped and restarted on the same port. */
final class RealServer implements AutoCloseable {
  private final String database = SharedPostgres.createDatabaseFrom(Template.NAME);
  private final EngineConfig engine;
  private final UnaryOperator<ServerConfig.Builder> settings;
  private KagziServer server;
  private final int port;
  private final ManagedChannel channel;

  /** A database that is migrated once per JVM. */
  private static final class Template {
    static final String NAME = create();

    private static String create() {
      String name = SharedPostgres.createDatabase();
      KagziServer.migrate(onDatabase(name));
      return name;
    }
  }

  RealServer() {
    this(EngineConfig.defaults());
  }

  RealServer(EngineConfig engine) {
    this(engine, UnaryOperator.identity());
  }

  RealServer(EngineConfig engine, UnaryOperator<ServerConfig.Builder> settings) {
    this.settings = settings;
    this.engine = engine.withAutoCreateNamespaces(true);
    this.server = start(0);
    this.port = server.grpcPort();
    this.channel = NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().build();
  }

  private KagziServer start(int port) {
    return KagziServer.start(
        settings
            .apply(
                onDatabase(database)
                    .grpcPort(port)
                    .httpPort(0)
                    .engine(engine)
                    .closeTimeout(Duration.ofSeconds(2)))
            .build());
  }

  private static ServerConfig.Builder onDatabase(String name) {
    EmbeddedPostgres postgres = SharedPostgres.server();
    return ServerConfig.builder()
        .dbUrl(postgres.jdbcUrl(name))
        .dbUser(postgres.user())
        .dbPassword(postgres.password())
        .unsafeDatabase();
  }

  void restart() {
    stop();
    startAgain();
  }

  void stop() {
    server.close();
  }

  /** Restarts after {@link #stop}, on the same gRPC port. */
  void startAgain() {
    server = start(port);
  }

  int httpPort() {
    return server.httpPort();
  }

  String inProcessName() {
    return server.inProcessName();
  }

  int port() {
    return port;
  }

  String address() {
    return "127.0.0.1:" + port;
  }

  WorkerServiceGrpc.WorkerServiceBlockingStub workers() {
    return WorkerServiceGrpc.newBlockingStub(channel).withDeadlineAfter(10, TimeUnit.SECONDS);
  }

  AdminServiceGrpc.AdminServiceBlockingStub admin() {
    return AdminServiceGrpc.newBlockingStub(channel).withDeadlineAfter(10, TimeUnit.SECONDS);
  }

  WorkflowServiceGrpc.WorkflowServiceBlockingStub workflows() {
    return WorkflowServiceGrpc.newBlockingStub(channel).withDeadlineAfter(10, TimeUnit.SECONDS);
  }

  WorkflowScheduleServiceGrpc.WorkflowScheduleServiceBlockingStub schedules() {
    return WorkflowScheduleServiceGrpc.newBlockingStub(channel)
        .withDeadlineAfter(10, TimeUnit.SECONDS);
  }

  List<Step> steps(String runId) {
    return admin()
        .listSteps(
            ListStepsRequest.newBuilder()
                .setNamespace("default")
                .setRunId(runId)
                .setPage(PageRequest.newBuilder().setPageSize(100))
                .build())
        .getStepsList();
  }

  /** Opens a connection to the database of the server. */
  Connection connect() throws SQLException {
    return SharedPostgres.server().connect(database);
  }

  /** Moves the end of a run into the past. */
  void endedEarlier(String runId, Duration by) {
    try (Connection connection = connect();
        PreparedStatement update =
            connection.prepareStatement(
                "UPDATE kagzi.workflow_runs SET finished_at = finished_at - ? * interval '1 ms'"
                    + " WHERE run_id = ?::uuid")) {
      update.setLong(1, by.toMillis());
      update.setString(2, runId);
      update.executeUpdate();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    channel.shutdownNow();
    server.close();
  }
}
