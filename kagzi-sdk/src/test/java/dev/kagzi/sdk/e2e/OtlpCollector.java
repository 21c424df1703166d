package dev.kagzi.sdk.e2e;

import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceResponse;
import io.opentelemetry.proto.collector.trace.v1.TraceServiceGrpc.TraceServiceImplBase;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

/** Receives spans by OTLP over gRPC, as the collector of OpenTelemetry does. */
final class OtlpCollector implements AutoCloseable {
  private final List<Received> spans = new CopyOnWriteArrayList<>();
  private final Server server;

  /** A span, with its ids as hexadecimal digits. */
  record Received(String service, Span span) {
    String traceId() {
      return hex(span.getTraceId());
    }

    String spanId() {
      return hex(span.getSpanId());
    }

    /** Empty for a root span. */
    String parentId() {
      return hex(span.getParentSpanId());
    }

    String name() {
      return span.getName();
    }

    Stream<String> links() {
      return span.getLinksList().stream().map(link -> hex(link.getSpanId()));
    }

    String text(String attribute) {
      return value(attribute).getStringValue();
    }

    long number(String attribute) {
      return value(attribute).getIntValue();
    }

    private AnyValue value(String attribute) {
      return span.getAttributesList().stream()
          .filter(each -> each.getKey().equals(attribute))
          .map(KeyValue::getValue)
          .findFirst()
          .orElse(AnyValue.getDefaultInstance());
    }

    private static String hex(com.google.protobuf.ByteString id) {
      return HexFormat.of().formatHex(id.toByteArray());
    }
  }

  OtlpCollector() throws IOException {
    server =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .addService(new Traces())
            .build()
            .start();
  }

  private final class Traces extends TraceServiceImplBase {
    @Override
    public void export(
        ExportTraceServiceRequest request, StreamObserver<ExportTraceServiceResponse> caller) {
      request
          .getResourceSpansList()
          .forEach(
              resource -> {
                String service =
                    resource.getResource().getAttributesList().stream()
                        .filter(each -> each.getKey().equals("service.name"))
                        .map(each -> each.getValue().getStringValue())
                        .findFirst()
                        .orElse("");
                resource.getScopeSpansList().stream()
                    .flatMap(scope -> scope.getSpansList().stream())
                    .forEach(span -> spans.add(new Received(service, span)));
              });
      caller.onNext(ExportTraceServiceResponse.getDefaultInstance());
      caller.onCompleted();
    }
  }

  String endpoint() {
    return "http://127.0.0.1:" + server.getPort();
  }

  List<Received> spans() {
    return spans;
  }

  /** Returns the spans whose names begin with this. */
  List<Received> spans(String name) {
    return spans.stream().filter(span -> span.name().startsWith(name)).toList();
  }

  @Override
  public void close() {
    server.shutdownNow();
  }
}
