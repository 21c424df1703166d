package dev.kagzi.server.grpc;

import dev.kagzi.server.listen.ListenConfig;
import dev.kagzi.server.listen.Tls;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.ServerCredentials;
import io.grpc.TlsServerCredentials;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.RecvByteBufAllocator;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The ways to call the server: a port, unless the configuration has none, and an in-process name.
 * Both serve the same services; only the port checks the token.
 */
final class Transports {
  private static final int MESSAGE_BYTES_MAX = 8 << 20;

  // A window that gRPC tunes itself costs a ping and its response for nearly every call.
  private static final int WINDOW_BYTES = 4 << 20;

  // A message refers to slices of read buffers. Each slice keeps its whole buffer in memory, with
  // parts of other messages, even of refused ones. Small buffers limit this waste.
  private static final RecvByteBufAllocator SMALL_READS =
      new AdaptiveRecvByteBufAllocator(64, 2 << 10, 16 << 10);

  private static final int HEADER_BYTES_MAX = 16 << 10;
  private static final int CALLS_PER_CONNECTION_MAX = 10_000;
  private static final Duration CANCEL_TIMEOUT = Duration.ofSeconds(1);

  private final List<Server> servers;
  private final int port;

  private Transports(List<Server> servers, int port) {
    this.servers = List.copyOf(servers);
    this.port = port;
  }

  /**
   * Opens the transports.
   *
   * @param threads in-process handlers run on these, not on the caller's thread, which may be
   *     interrupted
   * @param memory counts the bytes that arrive over the network
   */
  static Transports open(
      GrpcSettings settings,
      GrpcThreads threads,
      CallMemory memory,
      Consumer<ServerBuilder<?>> services)
      throws IOException {
    List<Server> servers = new ArrayList<>();
    InProcessServerBuilder inProcess =
        InProcessServerBuilder.forName(settings.inProcessName()).executor(threads.inProcess());
    CallerContext.add(inProcess);
    services.accept(inProcess);
    servers.add(inProcess.build().start());
    if (settings.listen().grpcPort() == ListenConfig.NONE) {
      return new Transports(servers, ListenConfig.NONE);
    }
    DisconnectLogFilter.logBriefly();
    try {
      NettyServerBuilder netty = netty(settings.listen());
      CallerContext.add(netty);
      threads.eventLoops().use(netty);
      netty.addStreamTracerFactory(memory.tracers());
      services.accept(netty);
      Server opened = netty.build().start();
      servers.addFirst(opened);
      return new Transports(servers, opened.getPort());
    } catch (IOException e) {
      servers.forEach(Server::shutdownNow);
      throw e;
    }
  }

  private static NettyServerBuilder netty(ListenConfig listen) {
    InetSocketAddress address = new InetSocketAddress(listen.host(), listen.grpcPort());
    NettyServerBuilder builder =
        NettyServerBuilder.forAddress(address, credentials(listen))
            .directExecutor()
            .permitKeepAliveTime(5, TimeUnit.SECONDS)
            .permitKeepAliveWithoutCalls(true)
            .keepAliveTime(10, TimeUnit.SECONDS)
            .keepAliveTimeout(5, TimeUnit.SECONDS)
            .maxInboundMessageSize(MESSAGE_BYTES_MAX)
            .flowControlWindow(WINDOW_BYTES)
            .maxInboundMetadataSize(HEADER_BYTES_MAX)
            .withChildOption(ChannelOption.RECVBUF_ALLOCATOR, SMALL_READS)
            .maxConcurrentCallsPerConnection(CALLS_PER_CONNECTION_MAX);
    listen.token().ifPresent(token -> builder.intercept(new TokenGuard(token)));
    return builder;
  }

  private static ServerCredentials credentials(ListenConfig listen) {
    if (listen.tls().isEmpty()) {
      return InsecureServerCredentials.create();
    }
    Tls tls = listen.tls().get();
    TlsServerCredentials.Builder credentials =
        TlsServerCredentials.newBuilder().keyManager(tls.keyManagers());
    if (tls.isMutual()) {
      credentials
          .trustManager(tls.clientTrustManagers())
          .clientAuth(TlsServerCredentials.ClientAuth.REQUIRE);
    }
    return credentials.build();
  }

  int port() {
    return port;
  }

  void shutdown() {
    servers.forEach(Server::shutdown);
  }

  /** Waits for calls in flight; cancels them after the limit. */
  void awaitEnd(Duration max) {
    long deadline = System.nanoTime() + max.toNanos();
    try {
      for (Server server : servers) {
        long left = Math.max(0, deadline - System.nanoTime());
        if (!server.awaitTermination(left, TimeUnit.NANOSECONDS)) {
          server.shutdownNow();
          server.awaitTermination(CANCEL_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        }
      }
    } catch (InterruptedException e) {
      servers.forEach(Server::shutdownNow);
      Thread.currentThread().interrupt();
    }
  }
}
