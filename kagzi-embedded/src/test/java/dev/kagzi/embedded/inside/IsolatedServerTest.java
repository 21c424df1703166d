package dev.kagzi.embedded.inside;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class IsolatedServerTest {

  @ParameterizedTest
  @CsvSource({
    "127.0.0.1, 127.0.0.1:7",
    "db.example, db.example:7",
    "0.0.0.0, 127.0.0.1:7",
    "::, 127.0.0.1:7",
    "::1, [::1]:7",
    "[::1], [::1]:7"
  })
  void a_client_can_connect_to_the_address(String host, String address) {
    assertThat(IsolatedServer.address(host, 7)).isEqualTo(address);
  }
}
