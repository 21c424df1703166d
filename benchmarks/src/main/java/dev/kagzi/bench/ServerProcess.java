package dev.kagzi.bench;

import dev.kagzi.sdk.Kagzi;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.util.HashMap;
import java.util.Map;

/** A server in a process of its own, reached over gRPC. */
final class ServerProcess implements MeasuredServer {
  private final ChildProcess process;
  private final String address;
  private final int httpPort;

  private ServerProcess(ChildProcess process, int grpcPort, int httpPort) {
    this.process = process;
    this.address = "127.0.0.1:" + grpcPort;
    this.httpPort = httpPort;
  }

  static ServerProcess start(BenchDatabase database) {
    return start(database, Map.of());
  }

  /**
   * Starts the server.
   *
   * @param settings environment variables of the server
   */
  static ServerProcess start(BenchDatabase database, Map<String, String> settings) {
    Map<String, String> environment = new HashMap<>(database.environment());
    environment.putAll(settings);
    ChildProcess process =
        ChildProcess.start(
            "the server",
            System.getProperty("java.class.path"),
            ServerMain.class.getName(),
            environment);
    try {
      String[] ports = process.read().split(" ", 2);
      return new ServerProcess(process, Integer.parseInt(ports[0]), Integer.parseInt(ports[1]));
    } catch (RuntimeException e) {
      process.close();
      throw e;
    }
  }

  @Override
  public String system() {
    return "kagzi";
  }

  @Override
  public Kagzi.Builder client() {
    return Kagzi.builder().address(address);
  }

  @Override
  public ManagedChannel openChannel() {
    return NettyChannelBuilder.forTarget(address).usePlaintext().build();
  }

  @Override
  public int httpPort() {
    return httpPort;
  }

  @Override
  public long statements() {
    return counts().statements();
  }

  /** What the server has counted since its start. */
  ServerCounts counts() {
    return ServerCounts.decode(process.ask("counters"));
  }

  @Override
  public long pid() {
    return process.pid();
  }

  @Override
  public void close() {
    process.close();
  }
}
