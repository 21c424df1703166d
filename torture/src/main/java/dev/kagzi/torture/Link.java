package dev.kagzi.torture;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A TCP proxy between two processes that fails on demand: it breaks connections, or holds back all
 * bytes for a while without closing them. Thread-safe.
 */
final class Link implements AutoCloseable {
  private static final int BUFFER_BYTES = 32 << 10;

  private final ServerSocket listener;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition flowing = lock.newCondition();
  private boolean stalled;
  private volatile int targetPort;

  Link() {
    try {
      listener = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Thread.ofVirtual().name("link").start(this::accept);
  }

  int port() {
    return listener.getLocalPort();
  }

  String address() {
    return "127.0.0.1:" + port();
  }

  /** Sets the port to which new connections are forwarded. */
  void to(int port) {
    targetPort = port;
  }

  /** Whether there is a connection. */
  boolean isInUse() {
    return !sockets.isEmpty();
  }

  /** Breaks every connection; new ones are forwarded. */
  void cut() {
    sockets.forEach(Link::closeQuietly);
  }

  /** Holds back all bytes, also on new connections, until {@link #flow}. */
  void stall() {
    setStalled(true);
  }

  void flow() {
    setStalled(false);
  }

  private void setStalled(boolean value) {
    lock.lock();
    try {
      stalled = value;
      flowing.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket from = listener.accept();
        Thread.ofVirtual().name("link-open").start(() -> open(from));
      } catch (IOException closed) {
        // The listener is closed, or the caller has disconnected: nothing to do.
      }
    }
  }

  private void open(Socket from) {
    Socket to = new Socket();
    sockets.add(from);
    sockets.add(to);
    try {
      awaitFlow();
      to.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), targetPort));
      from.setTcpNoDelay(true);
      to.setTcpNoDelay(true);
      Thread.ofVirtual().name("link-there").start(() -> pump(from, to));
      Thread.ofVirtual().name("link-back").start(() -> pump(to, from));
    } catch (IOException cutOrUnreachable) {
      closeBoth(from, to);
    }
  }

  private void pump(Socket from, Socket to) {
    byte[] buffer = new byte[BUFFER_BYTES];
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        awaitFlow();
        out.write(buffer, 0, read);
      }
      awaitFlow();
    } catch (IOException broken) {
      // Closed below, as after an orderly end.
    }
    closeBoth(from, to);
  }

  private void awaitFlow() {
    lock.lock();
    try {
      while (stalled && !listener.isClosed()) {
        flowing.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }

  private void closeBoth(Socket one, Socket other) {
    sockets.remove(one);
    sockets.remove(other);
    closeQuietly(one);
    closeQuietly(other);
  }

  private static void closeQuietly(Socket socket) {
    try {
      socket.close();
    } catch (IOException closed) {
      // Closed already, which is all that is wanted.
    }
  }

  @Override
  public void close() {
    try {
      listener.close();
    } catch (IOException closed) {
      // Closed already, which is all that is wanted.
    }
    flow();
    cut();
  }
}
