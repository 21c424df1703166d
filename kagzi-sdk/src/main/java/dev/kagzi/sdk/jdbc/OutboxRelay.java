package dev.kagzi.sdk.jdbc;

/**
 * Sends the rows of an outbox to the server until it is closed: {@link
 * dev.kagzi.sdk.Kagzi#relayOutbox}.
 */
public interface OutboxRelay extends AutoCloseable {
  /** Returns how many rows this relay has sent and deleted. */
  long sent();

  /** Waits for the rows that are being sent, and stops. */
  @Override
  void close();
}
