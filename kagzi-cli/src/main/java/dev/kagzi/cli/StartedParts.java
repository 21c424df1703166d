package dev.kagzi.cli;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What has been started and has to be stopped, last one first. A signal and a failure can both ask
 * for that at the same moment: {@link #mayStop} tells one of them to do it. Parts are added by one
 * thread before anybody else knows this object.
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

  /** True for the first who asks. */
  boolean mayStop() {
    return stopping.compareAndSet(false, true);
  }

  /** Stops every part, whatever happens to the others; answers whether all went well. */
  boolean stop() {
    boolean clean = true;
    for (Part part : parts) {
      clean &= stop(part);
    }
    return clean;
  }

  /** Halting is what turns the JVM's exit code 130 or 143 into the 0 of a clean stop. */
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
