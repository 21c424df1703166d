package dev.kagzi.engine.notification;

import java.util.UUID;

/** How a server notifies the others. Publishing a notice never blocks and never fails. */
public interface Notifier extends AutoCloseable {
  /** Notices are sent and delivered from now on. Call once, after all receivers exist. */
  void start();

  /** Publishes the notice to the other servers; this one knows already. */
  void tell(ServerMessage notice);

  /** How many other servers are alive on the database. */
  void others(long count);

  /**
   * True when notices reach that server, whatever process it is in.
   *
   * @param serverId a server that is alive on the database
   */
  boolean reaches(UUID serverId);

  @Override
  void close();
}
