package dev.kagzi.server;

import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Whether the server can be used: PostgreSQL answers, migrations are done, gRPC accepts calls.
 *
 * <p>Callers need no token, and nothing limits how often they call. So one caller at a time queries
 * the database, and the others reuse its answer for {@value #FRESH_MS} ms. Thread-safe.
 */
final class Readiness {
  private static final long FRESH_MS = 500;
  private static final long FRESH_NANOS = TimeUnit.MILLISECONDS.toNanos(FRESH_MS);

  private final ReentrantLock querying = new ReentrantLock();
  private volatile String stage = "starting: waiting for PostgreSQL";
  private volatile @Nullable Supplier<Optional<String>> engine;
  private volatile BooleanSupplier databaseWorkedLately = () -> false;
  private volatile @Nullable Answer last;
  private volatile boolean failed;

  private record Answer(Optional<String> reason, long atNanos) {
    boolean isFresh() {
      return System.nanoTime() - atNanos < FRESH_NANOS;
    }
  }

  /**
   * The engine started: the database was reached and its schema is up to date.
   *
   * @param problem returns why the engine cannot work now, or empty; may block
   * @param workedLately whether statements of the last seconds have succeeded; returns at once
   */
  void engineStarted(Supplier<Optional<String>> problem, BooleanSupplier workedLately) {
    stage = "starting: opening the gRPC port";
    databaseWorkedLately = workedLately;
    engine = problem;
  }

  /** gRPC accepts calls. */
  void accepting() {
    stage = "";
  }

  void stopping() {
    if (!failed) {
      stage = "stopping";
    }
  }

  /** The server failed; this reason is reported until the process ends. */
  void failed(String why) {
    failed = true;
    stage = "failed: " + why;
  }

  /** Returns why the server cannot be used now, or empty. May query the database and block. */
  Optional<String> notReadyReason() {
    String now = stage;
    Supplier<Optional<String>> started = engine;
    if (!now.isEmpty() || started == null) {
      return Optional.of(now);
    }
    Answer known = last;
    return known != null && known.isFresh() ? known.reason : query(started);
  }

  /**
   * Like {@link #notReadyReason}, but does not query the database if other statements have just
   * succeeded. For a caller that repeats this all the time.
   */
  Optional<String> notReadyReasonLately() {
    return stage.isEmpty() && databaseWorkedLately.getAsBoolean()
        ? Optional.empty()
        : notReadyReason();
  }

  private Optional<String> query(Supplier<Optional<String>> started) {
    querying.lock();
    try {
      Answer known = last;
      if (known == null || !known.isFresh()) {
        known = new Answer(started.get(), System.nanoTime());
        last = known;
      }
      return known.reason;
    } finally {
      querying.unlock();
    }
  }
}
