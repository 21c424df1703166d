package dev.kagzi.server;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A TCP proxy to a local port that can be cut: connections are reset, like those of a killed
 * process, and new ones are refused until it is restored. Thread-safe.
 */
final class TestLink implements AutoCloseable {
  private final int target;
  private final ServerSocket listener;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private volatile boolean cut;

  TestLink(int target) {
    this.target = target;
    try {
      this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Thread.ofVirtual().name("test-link").start(this::accept);
  }

  int port() {
    return listener.getLocalPort();
  }

  void cut() {
    cut = true;
    sockets.forEach(TestLink::reset);
  }

  void restore() {
    cut = false;
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket from = listener.accept();
        sockets.add(from);
        if (cut) {
          reset(from);
          continue;
        }
        Socket to = new Socket(InetAddress.getLoopbackAddress(), target);
        sockets.add(to);
        from.setTcpNoDelay(true);
        to.setTcpNoDelay(true);
        Thread.ofVirtual().start(() -> copy(from, to));
        Thread.ofVirtual().start(() -> copy(to, from));
        if (cut) {
          reset(from);
          reset(to);
        }
      } catch (IOException closed) {
        // The proxy is cut, or the caller has gone.
      }
    }
  }

  private void copy(Socket from, Socket to) {
    try (InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream()) {
      in.transferTo(out);
    } catch (IOException broken) {
      // The connection is closed below, like after an orderly end.
    }
    reset(from);
    reset(to);
    sockets.remove(from);
    sockets.remove(to);
  }

  private static void reset(Socket socket) {
    try {
      socket.setSoLinger(true, 0);
      socket.close();
    } catch (IOException closed) {
      // Already closed.
    }
  }

  @Override
  public void close() {
    try {
      listener.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    cut();
  }
}
