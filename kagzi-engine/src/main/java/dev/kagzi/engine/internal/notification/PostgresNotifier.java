package dev.kagzi.engine.internal.notification;

import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.db.ListenSession;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.thread.EssentialThreads;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Sends messages by NOTIFY, and receives them by LISTEN. Thread-safe. */
public final class PostgresNotifier implements Notifier {
  private static final String CHANNEL = "kagzi_work";
  private static final int PAYLOAD_BYTES_MAX = 7_900;
  private static final int COALESCE_MS = 10;
  private static final int LIVENESS_CHECK_MS = 5_000;

  /** While no other server sends messages, none can be lost. */
  private static final int LIVENESS_CHECK_ALONE_MS = 15_000;

  private static final long PAUSE_MS_FIRST = 250;
  private static final long CLOSE_MS_MAX = 1_000;
  private static final long PAUSE_MS_MAX = 2_000;
  private static final long FIRST_LISTEN_MS_MAX = 5_000;

  private final Database database;
  private final UUID serverId;
  private final Consumer<ServerMessage> listener;
  private final Thread sender;
  private final Thread receiver;
  private final PendingMessages pending = new PendingMessages();
  private volatile boolean alone = true;
  private long otherServersNanos = System.nanoTime();
  private final CountDownLatch listens = new CountDownLatch(1);
  private volatile @Nullable ListenSession listening;
  private volatile boolean isLate;
  private volatile boolean closed;

  public PostgresNotifier(
      Database database,
      UUID serverId,
      Consumer<ServerMessage> listener,
      EssentialThreads threads) {
    this.database = database;
    this.serverId = serverId;
    this.listener = listener;
    this.sender = threads.loop("kagzi-notifier-send", this::send, () -> closed);
    this.receiver = threads.loop("kagzi-notifier-listen", this::receive, () -> closed);
  }

  /**
   * Waits until this server listens, at most 5 s. Otherwise it could miss the announcement of a
   * server that starts after the first heartbeat of this server has counted the others.
   */
  @Override
  public void start() {
    sender.start();
    receiver.start();
    try {
      isLate = !listens.await(FIRST_LISTEN_MS_MAX, TimeUnit.MILLISECONDS);
    } catch (InterruptedException stopped) {
      isLate = true;
      Thread.currentThread().interrupt();
    }
    if (isLate && listens.getCount() == 0) {
      refreshEverything();
    }
  }

  @Override
  public void announce() {
    String payload = pack(List.of(new ServerMessage.Everything())).getFirst();
    database.read(
        session -> {
          notify(session, payload);
          return payload;
        });
  }

  private static void notify(Session session, String payload) throws SQLException {
    session.query("SELECT pg_notify(?, ?)").bind(CHANNEL).bind(payload).execute();
  }

  @Override
  public void publish(ServerMessage message) {
    if (!alone) {
      pending.add(message);
    }
  }

  @Override
  public synchronized void setOtherServers(long count, long countedNanos) {
    // Ignore a count that is older than the last one. A server that starts while this server's
    // heartbeat query runs is not in its count. That server's announcement, which calls this method
    // with 1, may arrive before the count, which must not overwrite it.
    if (countedNanos - otherServersNanos >= 0) {
      otherServersNanos = countedNanos;
      alone = count == 0;
    }
  }

  @Override
  public boolean reaches(UUID server) {
    return true;
  }

  private void send() {
    Session session = null;
    while (!closed) {
      try {
        List<ServerMessage> batch = pending.take();
        if (session == null || !session.isUsable()) {
          session = database.open("notifier");
          // A message that a crash loses has a fallback, so its commit need not wait for the disk.
          session.query("SET synchronous_commit = off").execute();
        }
        for (String payload : pack(batch)) {
          notify(session, payload);
        }
        TimeUnit.MILLISECONDS.sleep(COALESCE_MS);
      } catch (SQLException e) {
        database.logFailure("notify", e, session);
        session = closeQuietly(session);
      } catch (InterruptedException stopped) {
        break;
      }
    }
    closeQuietly(session);
  }

  private List<String> pack(List<ServerMessage> batch) {
    List<String> payloads = new ArrayList<>();
    StringBuilder payload = new StringBuilder(serverId.toString());
    for (ServerMessage message : batch) {
      String line = message.encode();
      if (payload.length() + line.length() + 1 > PAYLOAD_BYTES_MAX) {
        payloads.add(payload.toString());
        payload = new StringBuilder(serverId.toString());
      }
      payload.append('\n').append(line);
    }
    payloads.add(payload.toString());
    return payloads;
  }

  private void receive() {
    long pauseMs = PAUSE_MS_FIRST;
    while (!closed) {
      Session listened = null;
      try (ListenSession opened = ListenSession.open(database, CHANNEL)) {
        listened = opened.session();
        listening = opened;
        boolean isFirst = listens.getCount() > 0;
        listens.countDown();
        if (!isFirst || isLate) {
          refreshEverything();
        }
        pauseMs = PAUSE_MS_FIRST;
        while (!closed) {
          int waitMs = alone ? LIVENESS_CHECK_ALONE_MS : LIVENESS_CHECK_MS;
          for (String payload : opened.await(waitMs)) {
            onPayload(payload);
          }
        }
      } catch (SQLException e) {
        if (!closed) {
          database.logFailure("listen", e, listened);
          pauseMs = pause(pauseMs);
        }
      }
    }
  }

  /** Refreshes everything, because messages sent while this server did not listen are lost. */
  private void refreshEverything() {
    new ServerMessage.Everything().deliverTo(listener);
  }

  private static long pause(long pauseMs) {
    try {
      TimeUnit.MILLISECONDS.sleep(pauseMs);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
    return Math.min(PAUSE_MS_MAX, pauseMs * 2);
  }

  private void onPayload(String payload) {
    String[] lines = payload.split("\n", -1);
    if (closed || lines[0].equals(serverId.toString())) {
      return;
    }
    for (int i = 1; i < lines.length; i++) {
      ServerMessage.decode(lines[i]).ifPresent(message -> message.deliverTo(listener));
    }
  }

  private static @Nullable Session closeQuietly(@Nullable Session session) {
    if (session != null) {
      session.close();
    }
    return null;
  }

  /**
   * Waits a second at most for the NOTIFY that is being sent, and one for the listener; queued
   * messages are dropped.
   */
  @Override
  public void close() {
    closed = true;
    sender.interrupt();
    receiver.interrupt();
    ListenSession current = listening;
    if (current != null) {
      // An interrupt does not end the wait for notifications, which would keep the JVM alive.
      current.abort();
    }
    try {
      sender.join(CLOSE_MS_MAX);
      receiver.join(CLOSE_MS_MAX);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
