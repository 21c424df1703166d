package dev.kagzi.sdk.internal.trace;

/** A context that is current in a thread, or an open span, until it is closed. */
@FunctionalInterface
public interface TraceScope {
  TraceScope NONE = () -> {};

  /** Call it once, in the thread that opened it. */
  void close();
}
