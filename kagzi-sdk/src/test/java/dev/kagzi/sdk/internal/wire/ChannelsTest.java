package dev.kagzi.sdk.internal.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ChannelsTest {

  @ParameterizedTest
  @ValueSource(
      strings = {"localhost:50051", "[::1]:50051", "[::1]:50051,b:50051", "10.0.0.1:1,[::2]:2"})
  void a_channel_accepts_host_names_and_ipv4_and_ipv6_addresses(String addresses) {
    List<String> parsed = Channels.parse(addresses);

    ManagedChannel channel = Channels.builder(parsed, InsecureChannelCredentials.create()).build();

    assertThat(channel.authority()).isEqualTo(parsed.getFirst());
    channel.shutdownNow();
  }
}
