package dev.kagzi.engine.worker;

/** An open Attach stream; the caller closes it when the connection breaks. */
public interface Attachment extends AutoCloseable {
  @Override
  void close();
}
