package dev.kagzi.server;

import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Whether the server can be used: PostgreSQL answers, migrations are done, gRPC accepts calls.
 *
 * <p>Anybody may ask, without a token and as often as they like. So the database is asked by one of
 * them at a time, and its answer serves all who ask in the next moment. Thread-safe.
 */
final class Readiness {
  private static final long FRESH_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final ReentrantLock asking = new ReentrantLock();
  private volatile String stage = "starting: waiting for PostgreSQL";
  private volatile @Nullable Supplier<Optional<String>> engine;
  private volatile @Nullable Answer last;
  private volatile boolean failed;

  private record Answer(Optional<String> trouble, long atNanos) {
    boolean isFresh() {
      return System.nanoTime() - atNanos < FRESH_NANOS;
    }
  }

  /**
   * The engine is there: the database was reached and its schema is up to date.
   *
   * @param trouble why the engine cannot work now, or nothing; may block
   */
  void engineStarted(Supplier<Optional<String>> trouble) {
    stage = "starting: opening the gRPC port";
    engine = trouble;
  }

  /** Calls are accepted. */
  void accepting() {
    stage = "";
  }

  void stopping() {
    if (!failed) {
      stage = "stopping";
    }
  }

  /** The server cannot go on, and says why until it is gone. */
  void failed(String why) {
    failed = true;
    stage = "failed: " + why;
  }

  /** Why the server cannot be used now, or nothing. Asks the database, so it may block. */
  Optional<String> trouble() {
    String now = stage;
    Supplier<Optional<String>> started = engine;
    if (!now.isEmpty() || started == null) {
      return Optional.of(now);
    }
    Answer known = last;
    return known != null && known.isFresh() ? known.trouble : ask(started);
  }

  private Optional<String> ask(Supplier<Optional<String>> started) {
    asking.lock();
    try {
      Answer known = last;
      if (known == null || !known.isFresh()) {
        known = new Answer(started.get(), System.nanoTime());
        last = known;
      }
      return known.trouble;
    } finally {
      asking.unlock();
    }
  }
}
