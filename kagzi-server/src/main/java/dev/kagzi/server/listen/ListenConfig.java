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
 * Where a server listens, and whom it lets in.
 *
 * @param host where both ports are bound
 * @param grpcPort 0 for a free one, {@link #NONE} for no port
 * @param httpPort 0 for a free one, {@link #NONE} for no port
 * @param access whom it lets in
 */
public record ListenConfig(String host, int grpcPort, int httpPort, Access access) {
  /** No port: such a server is reached from within its process only. */
  public static final int NONE = -1;

  private static final int PORT_MAX = 65_535;
  private static final Pattern LOOPBACK =
      Pattern.compile("localhost|127(\\.\\d{1,3}){3}|\\[?(::|0:0:0:0:0:0:0:)1\\]?");

  /**
   * Whom a server lets in.
   *
   * @param token what callers show, if any
   * @param tls what the ports are secured with, if at all
   * @param insecure whether a server that others can reach may do without both
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

  // By the text: a name that somebody else resolves may mean another address tomorrow.
  private static boolean isLoopback(String host) {
    return LOOPBACK.matcher(host).matches();
  }

  /** Whether the token can be read by whoever sees the network. */
  public boolean showsToken() {
    return access.token() != null && access.tls() == null && !isLoopback(host);
  }

  /** What callers show, if they have to. */
  public Optional<AccessToken> token() {
    return Optional.ofNullable(access.token());
  }

  /** What the ports are secured with, if they are. */
  public Optional<Tls> tls() {
    return Optional.ofNullable(access.tls());
  }

  /**
   * Takes both ports and lets them go: what is said here is said before anything is started.
   *
   * @throws IllegalArgumentException if one is not to be had, with the flag that chooses another
   */
  public void checkPorts() {
    InetAddress address = address();
    try (ServerSocket grpc = bound(address, grpcPort, "--port");
        ServerSocket http = bound(address, httpPort, "--http-port")) {
      // Both at once, so that one port for both is noticed as well.
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
      throw taken(flag, port, e);
    }
  }

  /** Says that a port is not to be had, and how to choose another. */
  public IllegalArgumentException taken(String flag, int port, Throwable cause) {
    return new IllegalArgumentException(
        flag
            + ": "
            + host
            + ":"
            + port
            + " cannot be bound: "
            + cause.getMessage()
            + " (expected: a port that is free; "
            + flag
            + " chooses another)",
        cause);
  }
}
