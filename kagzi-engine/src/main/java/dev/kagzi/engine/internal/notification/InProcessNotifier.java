package dev.kagzi.engine.internal.notification;

import dev.kagzi.engine.thread.EssentialThreads;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Passes messages in memory between the servers of this process that use one database. It needs no
 * connection, and cannot reach a server in another process. If there is one, it logs an error,
 * because runs then wait for the slow fallbacks. Thread-safe.
 */
public final class InProcessNotifier implements Notifier {
  private static final Logger log = LoggerFactory.getLogger(InProcessNotifier.class);
  private static final Map<String, Set<InProcessNotifier>> STARTED = new ConcurrentHashMap<>();

  private final String database;
  private final UUID serverId;
  private final Consumer<ServerMessage> listener;
  private final Thread receiver;
  private final PendingMessages pending = new PendingMessages();
  private final AtomicInteger timesUnreachable = new AtomicInteger();
  private volatile boolean started;
  private volatile boolean closed;

  /**
   * @param database address of the database that the servers share
   */
  public InProcessNotifier(
      String database, UUID serverId, Consumer<ServerMessage> listener, EssentialThreads threads) {
    this.database = database;
    this.serverId = serverId;
    this.listener = listener;
    this.receiver = threads.loop("kagzi-notifier-receive", this::receive, () -> closed);
  }

  @Override
  public void start() {
    receiver.start();
    STARTED.compute(
        database,
        (key, known) -> {
          Set<InProcessNotifier> servers = known == null ? ConcurrentHashMap.newKeySet() : known;
          servers.add(this);
          return servers;
        });
    started = true;
  }

  @Override
  public void announce() {
    publish(new ServerMessage.Everything());
  }

  @Override
  public void publish(ServerMessage message) {
    for (InProcessNotifier other : servers()) {
      if (other != this) {
        other.pending.add(message);
      }
    }
  }

  private Set<InProcessNotifier> servers() {
    return STARTED.getOrDefault(database, Set.of());
  }

  @Override
  public boolean reaches(UUID server) {
    return servers().stream().anyMatch(known -> known.serverId.equals(server));
  }

  @Override
  public void setOtherServers(long count, long countedNanos) {
    // Log at the second such count in a row: a server of this process that is starting or closing
    // may be counted once.
    boolean unreachable = started && count > servers().size() - 1;
    if (!unreachable) {
      timesUnreachable.set(0);
    } else if (timesUnreachable.incrementAndGet() == 2) {
      log.atError()
          .addKeyValue("others", count)
          .log(
              "another server works on this database, and notifier in-process does not reach it:"
                  + " set notifier to postgres on every server and restart them");
    }
  }

  private void receive() {
    try {
      while (true) {
        for (ServerMessage message : pending.take()) {
          message.deliverTo(listener);
        }
      }
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    closed = true;
    STARTED.computeIfPresent(
        database,
        (key, servers) -> {
          servers.remove(this);
          return servers.isEmpty() ? null : servers;
        });
    receiver.interrupt();
  }
}
