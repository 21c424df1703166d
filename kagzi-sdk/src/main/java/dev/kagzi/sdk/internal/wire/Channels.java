package dev.kagzi.sdk.internal.wire;

import io.grpc.ChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.stub.MetadataUtils;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

public final class Channels {
  private static final int MESSAGE_BYTES_MAX = 16 << 20;

  // A fixed window: automatic tuning by gRPC costs a ping and its answer for nearly every call.
  private static final int WINDOW_BYTES = 4 << 20;

  private static final int CONNECT_MS_MAX = 3_000;

  private Channels() {}

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
   * Opens a channel that runs callbacks on its own network thread, so callbacks must not block.
   * Keepalive detects a dead connection within 15 s, even without traffic.
   */
  public static ManagedChannel open(
      List<String> addresses,
      Credentials credentials,
      UnaryOperator<ManagedChannelBuilder<?>> options) {
    NettyChannelBuilder builder = builder(addresses, credentials.forChannel());
    builder
        .directExecutor()
        .intercept(InterceptorGuard.INNER)
        .intercept(MetadataUtils.newAttachHeadersInterceptor(credentials.headers()))
        .maxInboundMessageSize(MESSAGE_BYTES_MAX)
        .flowControlWindow(WINDOW_BYTES)
        .keepAliveTime(10, TimeUnit.SECONDS)
        .keepAliveTimeout(5, TimeUnit.SECONDS)
        .keepAliveWithoutCalls(true);
    return options.apply(builder).build();
  }

  /** Not the direct executor: the server's writers would then run the client's callbacks. */
  public static ManagedChannel inProcess(
      String name, UnaryOperator<ManagedChannelBuilder<?>> options) {
    return options
        .apply(InProcessChannelBuilder.forName(name).intercept(InterceptorGuard.INNER))
        .build();
  }

  /** Returns a builder for a channel that uses the first of these servers that answers. */
  static NettyChannelBuilder builder(List<String> addresses, ChannelCredentials credentials) {
    if (addresses.size() == 1) {
      return NettyChannelBuilder.forTarget(target("dns", addresses.getFirst()), credentials);
    }
    // A server that drops packets must not keep the channel from trying the next one.
    return NettyChannelBuilder.forTarget(StaticResolver.target(addresses), credentials)
        .withOption(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_MS_MAX);
  }

  /** Returns a target URI for gRPC; IPv6 addresses keep their brackets. */
  static String target(String scheme, String addresses) {
    try {
      return new URI(scheme, "", "/" + addresses, null).toString();
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException(
          "address: %s (expected: HOST:PORT)".formatted(addresses), e);
    }
  }
}
