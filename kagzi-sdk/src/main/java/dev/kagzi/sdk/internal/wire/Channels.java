package dev.kagzi.sdk.internal.wire;

import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/** Opens channels. */
public final class Channels {
  private static final int MESSAGE_BYTES_MAX = 16 << 20;

  // A window that gRPC tunes by itself costs a ping and its answer for nearly every call.
  private static final int WINDOW_BYTES = 4 << 20;

  private Channels() {}

  /** Splits {@code a:1,b:2} and checks each. */
  public static List<String> parse(String addresses) {
    List<String> found = new ArrayList<>();
    for (String part : addresses.split(",")) {
      String address = part.strip();
      if (address.contains("://")) {
        throw new IllegalArgumentException(
            "address: \""
                + part
                + "\" (expected: host:port without a scheme, such as localhost:50051)");
      }
      int colon = address.lastIndexOf(':');
      if (colon < 1 || !address.substring(colon + 1).matches("\\d{1,5}")) {
        throw new IllegalArgumentException(
            "address: \"" + part + "\" (expected: host:port, such as localhost:50051)");
      }
      found.add(address);
    }
    return found;
  }

  /**
   * A channel whose answers arrive on its own thread: nothing that answers them blocks. Keepalive
   * finds a dead connection within 15 s, also while nothing is said.
   */
  public static ManagedChannel open(
      List<String> addresses, UnaryOperator<ManagedChannelBuilder<?>> options) {
    NettyChannelBuilder builder = builder(addresses);
    builder
        .usePlaintext()
        .directExecutor()
        .maxInboundMessageSize(MESSAGE_BYTES_MAX)
        .flowControlWindow(WINDOW_BYTES)
        .keepAliveTime(10, TimeUnit.SECONDS)
        .keepAliveTimeout(5, TimeUnit.SECONDS)
        .keepAliveWithoutCalls(true);
    return options.apply(builder).build();
  }

  private static NettyChannelBuilder builder(List<String> addresses) {
    if (addresses.size() == 1) {
      return NettyChannelBuilder.forTarget("dns:///" + addresses.getFirst());
    }
    return NettyChannelBuilder.forTarget(StaticResolver.target(addresses));
  }
}
