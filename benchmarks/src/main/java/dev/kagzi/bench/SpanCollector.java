package dev.kagzi.bench;

import io.grpc.InsecureServerCredentials;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** An OTLP collector on loopback that discards every span. */
final class SpanCollector implements AutoCloseable {
  private static final String SERVICE = "opentelemetry.proto.collector.trace.v1.TraceService";
  private static final byte[] EMPTY = new byte[0];

  private final Server server;

  private SpanCollector(Server server) {
    this.server = server;
  }

  static SpanCollector start() {
    MethodDescriptor<byte[], byte[]> export =
        MethodDescriptor.<byte[], byte[]>newBuilder()
            .setType(MethodDescriptor.MethodType.UNARY)
            .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, "Export"))
            .setRequestMarshaller(new Bytes())
            .setResponseMarshaller(new Bytes())
            .build();
    ServerServiceDefinition service =
        ServerServiceDefinition.builder(SERVICE)
            .addMethod(
                export,
                ServerCalls.asyncUnaryCall(
                    (request, answer) -> {
                      answer.onNext(EMPTY);
                      answer.onCompleted();
                    }))
            .build();
    try {
      return new SpanCollector(
          NettyServerBuilder.forAddress(
                  new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                  InsecureServerCredentials.create())
              .addService(service)
              .build()
              .start());
    } catch (IOException e) {
      throw new BenchException("cannot start the collector of spans: " + e.getMessage(), e);
    }
  }

  String endpoint() {
    return "http://127.0.0.1:" + server.getPort();
  }

  @Override
  public void close() {
    server.shutdownNow();
  }

  private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] value) {
      return new ByteArrayInputStream(value);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try {
        return stream.readAllBytes();
      } catch (IOException e) {
        throw new BenchException("cannot read exported spans: " + e.getMessage(), e);
      }
    }
  }
}
