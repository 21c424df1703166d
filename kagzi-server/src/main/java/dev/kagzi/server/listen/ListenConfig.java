package dev.kagzi.server.listen;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where a server listens, and which callers it accepts.
 *
 * @param host the address that all ports bind to
 * @param grpcPort 0 for a free one, {@link #NONE} for no port
 * @param httpPort 0 for a free one, {@link #NONE} for no port
 */
public record ListenConfig(String host, int grpcPort, int httpPort, Access access) {
  /**
   * Instead of a port number: this port is not opened. A server without any port is reachable only
   * from within its process.
   */
  public static final int NONE = -1;

  private static final int PORT_MAX = 65_535;
  private static final Pattern LOOPBACK =
      Pattern.compile("localhost|127(\\.\\d{1,3}){3}|\\[?(::|0:0:0:0:0:0:0:)1\\]?");

  /**
   * Which callers a server accepts.
   *
   * @param token the token that callers must send, if any
   * @param tls the certificate of the ports, if any
   * @param insecure whether a server on a non-loopback address may run without token and client
   *     certificates
   */
  public record Access(@Nullable AccessToken token, @Nullable Tls tls, boolean insecure) {
    private boolean isGuarded() {
      return token != null || (tls != null && tls.isMutual());
    }
  }

  public ListenConfig {
    checkPort("port", grpcPort);
    checkPort("http-port", httpPort);
    if (host.isBlank()) {
      throw new IllegalArgumentException("host: \"" + host + "\" (expected: a name or an address)");
    }
    boolean open = grpcPort != NONE || httpPort != NONE;
    if (open && !isLoopback(host) && !access.isGuarded() && !access.insecure()) {
      throw new IllegalArgumentException(
          "host: "
              + host
              + " can be reached by others (expected: a token by --token-file or KAGZI_TOKEN,"
              + " clients' certificates by --tls-client-ca, or --insecure)");
    }
  }

  private static void checkPort(String name, int port) {
    if (port < NONE || port > PORT_MAX) {
      throw new IllegalArgumentException(
          name + ": " + port + " (expected: 0 to " + PORT_MAX + ", 0 for a free one)");
    }
  }

  // Matches the text and does not resolve it: what a host name resolves to may change.
  private static boolean isLoopback(String host) {
    return LOOPBACK.matcher(host).matches();
  }

  public boolean sendsTokenUnencrypted() {
    return access.token() != null && access.tls() == null && !isLoopback(host);
  }

  public Optional<AccessToken> token() {
    return Optional.ofNullable(access.token());
  }

  public Optional<Tls> tls() {
    return Optional.ofNullable(access.tls());
  }

  /**
   * Binds both ports and closes them again, so that a taken port is reported before anything
   * starts.
   *
   * @throws IllegalArgumentException if a port is taken; names the flag that chooses another
   */
  public void checkPorts() {
    InetAddress address = address();
    try (ServerSocket grpc = bound(address, grpcPort, "--port");
        ServerSocket http = bound(address, httpPort, "--http-port")) {
      // Both are bound at the same time, so that one port for both fails as well.
      assert grpc.isClosed() == (grpcPort == NONE) && http.isClosed() == (httpPort == NONE);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private InetAddress address() {
    try {
      return InetAddress.getByName(host);
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException(
          "host: " + host + " (expected: a name or an address of this machine)", e);
    }
  }

  private ServerSocket bound(InetAddress address, int port, String flag) throws IOException {
    ServerSocket socket = new ServerSocket();
    if (port == NONE) {
      socket.close();
      return socket;
    }
    try {
      socket.bind(new InetSocketAddress(address, port));
      return socket;
    } catch (IOException e) {
      socket.close();
      throw portTaken(flag, port, e);
    }
  }

  public IllegalArgumentException portTaken(String flag, int port, Throwable cause) {
    return new IllegalArgumentException(
        "%s: %s:%d cannot be bound: %s (expected: a port that is free; %s chooses another)"
            .formatted(flag, host, port, cause.getMessage(), flag),
        cause);
  }
}
