package dev.kagzi.sdk.e2e;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** A TCP proxy between a client and a server that fails on demand. */
final class TcpProxy implements AutoCloseable {
  private final ServerSocket listening;
  private final int targetPort;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private volatile boolean open = true;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition flows = lock.newCondition();
  private boolean stalled;

  TcpProxy(int targetPort) {
    this.targetPort = targetPort;
    try {
      this.listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Thread.ofPlatform().name("proxy").daemon().start(this::accept);
  }

  String address() {
    return "127.0.0.1:" + listening.getLocalPort();
  }

  /** Breaks every connection; accepts new ones. */
  void cut() {
    sockets.forEach(TcpProxy::closeQuietly);
    sockets.clear();
  }

  /** Breaks every connection and rejects new ones. */
  void shut() {
    open = false;
    cut();
  }

  void reopen() {
    open = true;
  }

  /** Keeps connections open and accepts new ones, but forwards nothing. */
  void stall() {
    setStalled(true);
  }

  /** Forwards everything that was held back since {@link #stall}. */
  void flow() {
    setStalled(false);
  }

  private void setStalled(boolean now) {
    lock.lock();
    try {
      stalled = now;
      flows.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void awaitFlow() {
    lock.lock();
    try {
      while (stalled) {
        flows.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        Socket client = listening.accept();
        if (open) {
          connect(client);
        } else {
          closeQuietly(client);
        }
      } catch (IOException e) {
        // The proxy is closed, or the client has disconnected: nothing to do.
      }
    }
  }

  private void connect(Socket client) throws IOException {
    Socket server = new Socket(InetAddress.getLoopbackAddress(), targetPort);
    client.setTcpNoDelay(true);
    server.setTcpNoDelay(true);
    sockets.add(client);
    sockets.add(server);
    Thread.ofPlatform().name("proxy-out").daemon().start(() -> pump(client, server));
    Thread.ofPlatform().name("proxy-in").daemon().start(() -> pump(server, client));
  }

  private void pump(Socket from, Socket to) {
    byte[] buffer = new byte[64 << 10];
    try (InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream()) {
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        awaitFlow();
        out.write(buffer, 0, read);
        out.flush();
      }
    } catch (IOException e) {
      // The test cut the connection.
      open &= !listening.isClosed();
    } finally {
      closeQuietly(from);
      closeQuietly(to);
    }
  }

  private static void closeQuietly(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    flow();
    shut();
    try {
      listening.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
