package dev.kagzi.bench;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.UnsafeByteOperations;
import com.google.protobuf.WireFormat;
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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/** An OTLP collector on loopback that counts the SDK's spans and discards all. Thread-safe. */
final class SpanCollector implements AutoCloseable {
  private static final String SERVICE = "opentelemetry.proto.collector.trace.v1.TraceService";
  private static final String SDK = "dev.kagzi.sdk";
  private static final byte[] EMPTY = new byte[0];

  // Numbers of fields in opentelemetry/proto/trace/v1/trace.proto.
  private static final int REQUEST_RESOURCE_SPANS = 1;
  private static final int RESOURCE_SPANS_SCOPE_SPANS = 2;
  private static final int SCOPE_SPANS_SCOPE = 1;
  private static final int SCOPE_SPANS_SPAN = 2;
  private static final int SCOPE_NAME = 1;

  private final Server server;
  private final LongAdder arrived;

  private SpanCollector(Server server, LongAdder arrived) {
    this.server = server;
    this.arrived = arrived;
  }

  static SpanCollector start() {
    LongAdder arrived = new LongAdder();
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
                      arrived.add(spansOfSdk(request));
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
              .start(),
          arrived);
    } catch (IOException e) {
      throw new BenchException("cannot start the collector of spans: " + e.getMessage(), e);
    }
  }

  /** Returns how many spans of clients and workers have arrived. */
  long arrived() {
    return arrived.sum();
  }

  /** Counts the SDK's spans in an export request without parsing the spans. */
  static long spansOfSdk(byte[] request) {
    long spans = 0;
    for (ByteString resource :
        fields(UnsafeByteOperations.unsafeWrap(request), REQUEST_RESOURCE_SPANS)) {
      for (ByteString scope : fields(resource, RESOURCE_SPANS_SCOPE_SPANS)) {
        if (nameOf(scope).equals(SDK)) {
          spans += fields(scope, SCOPE_SPANS_SPAN).size();
        }
      }
    }
    return spans;
  }

  private static String nameOf(ByteString scopeSpans) {
    return fields(scopeSpans, SCOPE_SPANS_SCOPE).stream()
        .flatMap(scope -> fields(scope, SCOPE_NAME).stream())
        .map(ByteString::toStringUtf8)
        .findFirst()
        .orElse("");
  }

  /** Returns the values of one field of a message, which are texts or messages; does not copy. */
  private static List<ByteString> fields(ByteString message, int number) {
    List<ByteString> values = new ArrayList<>();
    int wanted = number << 3 | WireFormat.WIRETYPE_LENGTH_DELIMITED;
    try {
      CodedInputStream in = message.newCodedInput();
      in.enableAliasing(true);
      for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
        if (tag == wanted) {
          values.add(in.readBytes());
        } else {
          in.skipField(tag);
        }
      }
    } catch (IOException e) {
      throw new BenchException("cannot parse exported spans: " + e.getMessage(), e);
    }
    return values;
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
