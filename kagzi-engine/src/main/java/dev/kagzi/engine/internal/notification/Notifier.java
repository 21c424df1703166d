package dev.kagzi.engine.internal.notification;

import dev.kagzi.engine.config.NotifierKind;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.thread.EssentialThreads;
import java.util.UUID;
import java.util.function.Consumer;

/** Publishes messages to other servers, and receives theirs. A message can be lost. */
public interface Notifier extends AutoCloseable {
  static Notifier create(
      NotifierKind kind,
      Database database,
      UUID serverId,
      Consumer<ServerMessage> receiver,
      EssentialThreads threads) {
    return switch (kind) {
      case POSTGRES -> new PostgresNotifier(database, serverId, receiver, threads);
      case IN_PROCESS -> new InProcessNotifier(database.address(), serverId, receiver, threads);
    };
  }

  /**
   * Starts sending and receiving, and waits until it receives. Call once, after all receivers
   * exist.
   */
  void start();

  /**
   * Asks the other servers to refresh everything and to count this server, because a server that
   * knows of no other one sends no messages. May block and throw.
   */
  void announce();

  /**
   * Publishes the message to the other servers, without blocking or throwing. This server does not
   * receive it.
   */
  void publish(ServerMessage message);

  /**
   * Sets how many other servers are alive on the database.
   *
   * @param countedNanos when they were counted, so that a late, older count can be ignored
   */
  void setOtherServers(long count, long countedNanos);

  /**
   * Returns whether messages reach that server, in this process or another.
   *
   * @param serverId a server that is alive on the database
   */
  boolean reaches(UUID serverId);

  @Override
  void close();
}
