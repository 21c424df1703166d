package dev.kagzi.sdk.internal.jdbc;

/** A message to the server, which is sent after its transaction has committed. */
@SuppressWarnings("ArrayRecordComponent") // It is not compared.
public record OutboxRow(long id, Kind kind, byte[] message) {
  /** The message is the request of this call, serialized. */
  public enum Kind {
    START,
    SIGNAL
  }
}
