package dev.kagzi.bench;

import dev.kagzi.engine.config.DatabaseConfig;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.server.KagziServer;
import dev.kagzi.server.ServerConfig;
import io.grpc.ManagedChannel;
import io.grpc.inprocess.InProcessChannelBuilder;

/** A server in this process, which is also the application: without ports, reached in memory. */
final class EmbeddedServer implements MeasuredServer {
  private final KagziServer server;

  private EmbeddedServer(KagziServer server) {
    this.server = server;
  }

  static EmbeddedServer start(BenchDatabase database) {
    DatabaseConfig config = database.config();
    return new EmbeddedServer(
        KagziServer.start(
            ServerConfig.builder(ServerMain.settings())
                .dbUrl(config.jdbcUrl())
                .dbUser(config.user())
                .dbPassword(config.password())
                .inProcessOnly()
                .build()));
  }

  @Override
  public String system() {
    return "embedded";
  }

  @Override
  public Kagzi.Builder client() {
    return Kagzi.builder().inProcess(server.inProcessName());
  }

  @Override
  public ManagedChannel openChannel() {
    return InProcessChannelBuilder.forName(server.inProcessName()).build();
  }

  @Override
  public int httpPort() {
    return server.httpPort();
  }

  @Override
  public long statements() {
    return server.engine().metrics().statements().statements();
  }

  @Override
  public long pid() {
    return 0;
  }

  @Override
  public void close() {
    server.close();
  }
}
