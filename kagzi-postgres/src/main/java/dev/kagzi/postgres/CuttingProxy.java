package dev.kagzi.postgres;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A TCP proxy for tests, between a client and PostgreSQL. It breaks the connection after PostgreSQL
 * has committed and before the answer reaches the client. It parses only the needed part of the
 * protocol. An answer ends with ReadyForQuery, which contains the transaction state, and
 * CommandComplete contains the command tag. Thread-safe.
 */
public class CuttingProxy implements AutoCloseable {
  private static final Pattern ADDRESS =
      Pattern.compile("jdbc:postgresql://([^:/]+):(\\d+)/([^?]+)(.*)");

  private final String database;
  private final String host;
  private final int port;
  private final ServerSocket serverSocket;
  private final Set<Tunnel> tunnels = ConcurrentHashMap.newKeySet();
  private final AtomicReference<Predicate<String>> next = new AtomicReference<>();
  private final List<String> cuts = new CopyOnWriteArrayList<>();
  private final AtomicInteger turnedAway = new AtomicInteger();
  private volatile Consumer<String> listener = tag -> {};
  private volatile boolean down;

  /** Listens on the loopback address, for the database of the URL. */
  public CuttingProxy(String jdbcUrl) {
    Matcher address = ADDRESS.matcher(jdbcUrl);
    if (!address.matches()) {
      throw new IllegalArgumentException("url: " + jdbcUrl + " (expected: host and port)");
    }
    this.database = address.group(3);
    this.host = address.group(1);
    this.port = Integer.parseInt(address.group(2));
    try {
      this.serverSocket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Thread.ofVirtual().name("cut-proxy").start(this::accept);
  }

  /**
   * Returns the JDBC URL of the database through this proxy.
   *
   * @param parameter one more driver parameter; empty for none
   */
  public String jdbcUrl(String parameter) {
    // Without TLS the first bytes from PostgreSQL are a regular message.
    return "jdbc:postgresql://127.0.0.1:%d/%s?sslmode=disable%s"
        .formatted(
            serverSocket.getLocalPort(), database, parameter.isEmpty() ? "" : "&" + parameter);
  }

  /**
   * Cuts the connection on which PostgreSQL next commits a matching command, and drops the answer.
   * The predicate gets the command tag: COMMIT, or the tag of an autocommit statement, such as
   * INSERT 0 1.
   */
  public void cutAnswer(Predicate<String> tag) {
    next.set(tag);
  }

  /** Like {@link #cutAnswer}, and then makes the database unavailable. */
  public void downAfter(Predicate<String> tag) {
    cutAnswer(
        text -> {
          if (!tag.test(text)) {
            return false;
          }
          down();
          return true;
        });
  }

  /**
   * Calls {@code tags} with the tag of every command that PostgreSQL completes, committed or not.
   */
  public void listen(Consumer<String> tags) {
    listener = tags;
  }

  /** The tags of the answers that were cut so far. */
  public List<String> cuts() {
    return cuts;
  }

  /** Stops forwarding on all open connections without closing them. */
  public void stall() {
    tunnels.forEach(tunnel -> tunnel.stalled = true);
  }

  /** Makes the database unavailable: closes open connections and refuses new ones. */
  public void down() {
    down = true;
    tunnels.forEach(Tunnel::close);
  }

  /** Makes the database available again. */
  public void up() {
    down = false;
  }

  /** Number of refused connections. */
  public int turnedAway() {
    return turnedAway.get();
  }

  private void accept() {
    try {
      while (true) {
        Socket client = serverSocket.accept();
        if (down) {
          turnedAway.incrementAndGet();
          client.close();
        } else {
          open(client);
        }
      }
    } catch (IOException closed) {
      // The proxy is closed.
    }
  }

  private void open(Socket client) throws IOException {
    Tunnel tunnel = new Tunnel(client, new Socket(host, port));
    tunnels.add(tunnel);
    Thread.ofVirtual().name("cut-proxy-up").start(tunnel::forward);
    Thread.ofVirtual().name("cut-proxy-down").start(tunnel::answer);
  }

  private final class Tunnel {
    private final Socket client;
    private final Socket server;
    private volatile boolean stalled;

    Tunnel(Socket client, Socket server) throws IOException {
      this.client = client;
      this.server = server;
      client.setTcpNoDelay(true);
      server.setTcpNoDelay(true);
    }

    private void forward() {
      try {
        InputStream in = client.getInputStream();
        OutputStream out = server.getOutputStream();
        byte[] buffer = new byte[1 << 16];
        for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
          if (!stalled) {
            out.write(buffer, 0, n);
          }
        }
      } catch (IOException broken) {
        // Handled below, like the end of the stream.
      }
      // A stalled client is lost in the network: PostgreSQL must not notice.
      if (!stalled) {
        close();
      }
    }

    private void answer() {
      try {
        DataInputStream in = new DataInputStream(server.getInputStream());
        OutputStream out = client.getOutputStream();
        while (pass(new Answer(in), out)) {
          out.flush();
        }
      } catch (IOException broken) {
        // Both sockets are closed below.
      }
      close();
    }

    /** Forwards the answer; returns false if it was the one to cut. */
    private boolean pass(Answer answer, OutputStream out) throws IOException {
      if (!answer.tag.isEmpty()) {
        listener.accept(answer.tag);
      }
      Predicate<String> wanted = next.get();
      if (wanted != null
          && answer.committed()
          && wanted.test(answer.tag)
          && next.compareAndSet(wanted, null)) {
        cuts.add(answer.tag);
        return false;
      }
      if (!stalled) {
        answer.writeTo(out);
      }
      return true;
    }

    void close() {
      tunnels.remove(this);
      closeQuietly(client);
      closeQuietly(server);
    }
  }

  /**
   * Messages that are forwarded together: up to ReadyForQuery, or up to a message that the client
   * may wait for before that.
   */
  private static final class Answer {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private String tag = "";
    private char state = ' ';

    Answer(DataInputStream in) throws IOException {
      DataOutputStream out = new DataOutputStream(bytes);
      int type;
      do {
        type = in.read();
        if (type < 0) {
          throw new EOFException();
        }
        int length = in.readInt();
        byte[] body = in.readNBytes(length - 4);
        out.writeByte(type);
        out.writeInt(length);
        out.write(body);
        if (type == 'C') {
          tag = new String(body, 0, body.length - 1, StandardCharsets.UTF_8);
        } else if (type == 'Z') {
          state = (char) body[0];
        }
        // The client may wait for R, A, N and E, although they do not end an answer: forward them
        // at once.
      } while (type != 'Z' && type != 'R' && type != 'A' && type != 'N' && type != 'E');
    }

    boolean committed() {
      return state == 'I' && !tag.isEmpty();
    }

    void writeTo(OutputStream out) throws IOException {
      bytes.writeTo(out);
    }
  }

  private static void closeQuietly(Socket socket) {
    try {
      socket.close();
    } catch (IOException closed) {
      // It is closed.
    }
  }

  @Override
  public void close() {
    try {
      serverSocket.close();
    } catch (IOException closed) {
      // It is closed.
    }
    tunnels.forEach(Tunnel::close);
  }
}
