package dev.kagzi.server.grpc;

import dev.kagzi.engine.thread.EssentialThreads;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.IoHandlerFactory;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.ServerChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.Epoll;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollServerSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioServerSocketChannel;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * The Netty event loops of one server. gRPC's shared event loops can end unnoticed, and then their
 * connections hang. The event loops of this class report their end to {@link EssentialThreads}.
 */
final class EventLoops implements AutoCloseable {
  // During this time the loops accept the last writes of threads that have not seen yet that the
  // server has stopped.
  private static final long QUIET_MS = 200;
  private static final long CLOSE_MS_MAX = 5_000;

  private final EssentialThreads threads;
  private final List<EventLoopGroup> groups = new ArrayList<>();

  EventLoops(EssentialThreads threads) {
    this.threads = threads;
  }

  /** A count of zero means Netty's default. */
  private EventLoopGroup group(String name, int count) {
    IoHandlerFactory handlers =
        Epoll.isAvailable() ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
    EventLoopGroup group = new MultiThreadIoEventLoopGroup(count, factory(name), handlers);
    groups.add(group);
    return group;
  }

  private ThreadFactory factory(String name) {
    return new DefaultThreadFactory(name, true) {
      @Override
      protected Thread newThread(Runnable loop, String name) {
        return super.newThread(threads.guarded(name, loop), name);
      }
    };
  }

  /** Creates the event loops of a server. Call at most once; a server without a port needs none. */
  void use(NettyServerBuilder builder) {
    Class<? extends ServerChannel> channel =
        Epoll.isAvailable() ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
    builder
        .bossEventLoopGroup(group("kagzi-accept", 1))
        .workerEventLoopGroup(group("kagzi-net", 0))
        .channelType(channel);
  }

  @Override
  public void close() {
    for (EventLoopGroup group : groups) {
      group.shutdownGracefully(QUIET_MS, CLOSE_MS_MAX, TimeUnit.MILLISECONDS);
    }
  }
}
