package dev.kagzi.sdk.jdbc;

import java.util.List;

/**
 * Sends the rows of an outbox to the server until it is closed: {@link
 * dev.kagzi.sdk.Kagzi#relayOutbox}.
 */
public interface OutboxRelay extends AutoCloseable {
  /** Returns how many rows this relay has sent and deleted. */
  long sent();

  /**
   * Returns why rows are not sent, without a call to the database; empty if nothing is known to be
   * wrong. Each problem is also logged: when it begins, once a minute, and when it is over.
   */
  List<RelayProblem> problems();

  /**
   * Stops the relay. Waits for the rows that are being sent, but not longer than 15 seconds for
   * each of its two threads. Rows that were not acknowledged by then stay and are sent again later.
   */
  @Override
  void close();
}
