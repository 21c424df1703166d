package dev.kagzi.bench;

import dev.kagzi.sdk.Kagzi;
import io.grpc.ManagedChannel;
import org.jspecify.annotations.Nullable;

/** A started Kagzi server with its defaults, on a database of the benchmark. Used by one thread. */
interface MeasuredServer extends AutoCloseable {

  /** The name of the measured system in the figures. */
  String system();

  /** A client that reaches the server in the way that an application would. */
  Kagzi.Builder client();

  /** A channel for calls without the SDK; the caller closes it. */
  ManagedChannel openChannel();

  /** The server's HTTP port, or -1 if it has none. */
  int httpPort();

  /** How many statements the server has sent to PostgreSQL. */
  long statements();

  /** The spans of clients and workers; null if they are not traced. */
  default @Nullable SpanCounts spans() {
    return null;
  }

  /** The server's process, or 0 if it is this one. */
  long pid();

  @Override
  void close();
}
