package dev.kagzi.torture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LinkTest {
  private static final int SHORT_MS = 200;
  private static final int LONG_MS = 10_000;

  private final ServerSocket target = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
  private final Link link = new Link();
  private Socket near = new Socket();
  private Socket far = new Socket();

  LinkTest() throws IOException {}

  @BeforeEach
  void connect() throws IOException {
    link.to(target.getLocalPort());
    near = new Socket(InetAddress.getLoopbackAddress(), link.port());
    far = target.accept();
    near.setSoTimeout(LONG_MS);
    far.setSoTimeout(LONG_MS);
  }

  @AfterEach
  void close() throws IOException {
    near.close();
    far.close();
    link.close();
    target.close();
  }

  @Test
  void bytes_go_both_ways() throws IOException {
    near.getOutputStream().write(1);
    far.getOutputStream().write(2);

    assertThat(far.getInputStream().read()).isEqualTo(1);
    assertThat(near.getInputStream().read()).isEqualTo(2);
  }

  @Test
  void a_stall_holds_back_all_bytes_and_loses_none() throws IOException {
    link.stall();
    near.getOutputStream().write(1);

    far.setSoTimeout(SHORT_MS);
    assertThatThrownBy(() -> far.getInputStream().read())
        .isInstanceOf(SocketTimeoutException.class);

    link.flow();
    far.setSoTimeout(LONG_MS);
    assertThat(far.getInputStream().read()).isEqualTo(1);
  }

  @Test
  void a_cut_closes_both_sides_and_new_connections_are_forwarded() throws IOException {
    link.cut();

    assertThat(isEnded(near)).isTrue();
    assertThat(isEnded(far)).isTrue();
    try (Socket again = new Socket(InetAddress.getLoopbackAddress(), link.port());
        Socket there = target.accept()) {
      again.getOutputStream().write(3);
      assertThat(there.getInputStream().read()).isEqualTo(3);
    }
  }

  private static boolean isEnded(Socket socket) {
    try {
      return socket.getInputStream().read() < 0;
    } catch (SocketTimeoutException stillOpen) {
      return false;
    } catch (IOException broken) {
      return true;
    }
  }
}
