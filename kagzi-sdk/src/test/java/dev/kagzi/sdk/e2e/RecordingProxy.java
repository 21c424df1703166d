package dev.kagzi.sdk.e2e;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.HandlerRegistry;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A gRPC proxy that forwards every call to a server and records the headers of the call. */
final class RecordingProxy implements AutoCloseable {
  private static final int MESSAGE_BYTES_MAX = 16 << 20;

  /**
   * One received call.
   *
   * @param method for example {@code kagzi.v1.WorkerService/Report}
   */
  record Call(String method, Metadata headers) {
    @Nullable String header(String name) {
      return headers.get(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER));
    }
  }

  private final Queue<Call> calls = new ConcurrentLinkedQueue<>();
  private final ManagedChannel target;
  private final Server server;

  RecordingProxy(int targetPort) {
    this.target =
        NettyChannelBuilder.forAddress("127.0.0.1", targetPort)
            .usePlaintext()
            .directExecutor()
            .maxInboundMessageSize(MESSAGE_BYTES_MAX)
            .build();
    try {
      this.server =
          NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
              .directExecutor()
              .maxInboundMessageSize(MESSAGE_BYTES_MAX)
              .permitKeepAliveTime(1, TimeUnit.SECONDS)
              .permitKeepAliveWithoutCalls(true)
              .fallbackHandlerRegistry(new AnyMethod())
              .build()
              .start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  String address() {
    return "127.0.0.1:" + server.getPort();
  }

  /** Returns the calls so far, in order of arrival. */
  List<Call> calls() {
    return List.copyOf(calls);
  }

  @Override
  public void close() {
    server.shutdownNow();
    target.shutdownNow();
  }

  private final class AnyMethod extends HandlerRegistry {
    @Override
    public ServerMethodDefinition<?, ?> lookupMethod(String name, @Nullable String authority) {
      MethodDescriptor<byte[], byte[]> method =
          MethodDescriptor.newBuilder(new Bytes(), new Bytes())
              .setFullMethodName(name)
              .setType(MethodDescriptor.MethodType.UNKNOWN)
              .build();
      return ServerMethodDefinition.create(method, RecordingProxy.this::forward);
    }
  }

  private ServerCall.Listener<byte[]> forward(ServerCall<byte[], byte[]> from, Metadata headers) {
    MethodDescriptor<byte[], byte[]> method = from.getMethodDescriptor();
    Metadata received = new Metadata();
    received.merge(headers);
    calls.add(new Call(method.getFullMethodName(), received));
    ClientCall<byte[], byte[]> to = target.newCall(method, CallOptions.DEFAULT);
    to.start(new Answers(from, to), headers);
    to.request(1);
    from.request(1);
    return new Requests(from, to);
  }

  private static final class Requests extends ServerCall.Listener<byte[]> {
    private final ServerCall<byte[], byte[]> from;
    private final ClientCall<byte[], byte[]> to;

    Requests(ServerCall<byte[], byte[]> from, ClientCall<byte[], byte[]> to) {
      this.from = from;
      this.to = to;
    }

    @Override
    public void onMessage(byte[] message) {
      to.sendMessage(message);
      from.request(1);
    }

    @Override
    public void onHalfClose() {
      to.halfClose();
    }

    @Override
    public void onCancel() {
      to.cancel("the caller cancelled the call", null);
    }
  }

  private static final class Answers extends ClientCall.Listener<byte[]> {
    private final ServerCall<byte[], byte[]> from;
    private final ClientCall<byte[], byte[]> to;

    Answers(ServerCall<byte[], byte[]> from, ClientCall<byte[], byte[]> to) {
      this.from = from;
      this.to = to;
    }

    @Override
    public void onHeaders(Metadata headers) {
      from.sendHeaders(headers);
    }

    @Override
    public void onMessage(byte[] message) {
      from.sendMessage(message);
      to.request(1);
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      from.close(status, trailers);
    }
  }

  private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] message) {
      return new ByteArrayInputStream(message);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try {
        return stream.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
