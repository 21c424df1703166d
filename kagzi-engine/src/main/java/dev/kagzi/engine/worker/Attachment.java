package dev.kagzi.engine.worker;

/** An attached stream; closed when it breaks. */
public interface Attachment extends AutoCloseable {
  @Override
  void close();
}
