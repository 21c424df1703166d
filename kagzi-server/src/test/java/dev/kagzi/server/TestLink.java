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
 * A TCP way to a port on this machine that can be cut: connections are reset, as those of a killed
 * process are, and new ones are turned away until it is mended. Thread-safe.
 */
final class TestLink implements AutoCloseable {
  private final int target;
  private final ServerSocket door;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private volatile boolean cut;

  TestLink(int target) {
    this.target = target;
    try {
      this.door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Thread.ofVirtual().name("test-link").start(this::accept);
  }

  int port() {
    return door.getLocalPort();
  }

  void cut() {
    cut = true;
    sockets.forEach(TestLink::reset);
  }

  void mend() {
    cut = false;
  }

  private void accept() {
    while (!door.isClosed()) {
      try {
        Socket from = door.accept();
        sockets.add(from);
        if (cut) {
          reset(from);
          continue;
        }
        Socket to = new Socket(InetAddress.getLoopbackAddress(), target);
        sockets.add(to);
        from.setTcpNoDelay(true);
        to.setTcpNoDelay(true);
        Thread.ofVirtual().start(() -> pump(from, to));
        Thread.ofVirtual().start(() -> pump(to, from));
        if (cut) {
          reset(from);
          reset(to);
        }
      } catch (IOException closed) {
        // The door is closed, or the caller has gone again.
      }
    }
  }

  private void pump(Socket from, Socket to) {
    try (InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream()) {
      in.transferTo(out);
    } catch (IOException broken) {
      // Ended below, as an orderly end is.
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
      // It is.
    }
  }

  @Override
  public void close() {
    try {
      door.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    cut();
  }
}
