package dev.kagzi.sdk.internal.trace;

/** Something that is current in a thread, or takes time, until it is closed. */
@FunctionalInterface
public interface TraceScope {
  TraceScope NONE = () -> {};

  /** Call it once, in the thread that opened it. */
  void close();
}
