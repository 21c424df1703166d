package dev.kagzi.cli;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The parts that were started; stopped in reverse order. A signal and a failure can request a stop
 * at the same time: {@link #mayStop} lets only one of them do it. One thread adds all parts before
 * it publishes this object to other threads.
 */
final class StartedParts {

  private static final Logger log = LoggerFactory.getLogger(StartedParts.class);

  private record Part(String name, AutoCloseable closeable) {}

  private final Deque<Part> parts = new ArrayDeque<>();
  private final AtomicBoolean stopping = new AtomicBoolean();

  <T extends AutoCloseable> T add(String name, T part) {
    parts.push(new Part(name, part));
    return part;
  }

  /** Returns true for the first caller only. */
  boolean mayStop() {
    return stopping.compareAndSet(false, true);
  }

  /** Stops every part even if others fail; returns whether all stopped cleanly. */
  boolean stop() {
    boolean clean = true;
    for (Part part : parts) {
      clean &= stop(part);
    }
    return clean;
  }

  /** Stops all parts and halts the JVM, which would otherwise exit with 130 or 143 instead of 0. */
  void stopBySignal() {
    if (mayStop()) {
      Runtime.getRuntime().halt(stop() ? 0 : 1);
    }
  }

  private static boolean stop(Part part) {
    try {
      part.closeable().close();
      log.atInfo().addKeyValue("part", part.name()).log("stopped");
      return true;
    } catch (Exception e) {
      log.atError().addKeyValue("part", part.name()).setCause(e).log("did not stop cleanly");
      return false;
    }
  }
}
