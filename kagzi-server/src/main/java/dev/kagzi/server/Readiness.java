package dev.kagzi.server;

import dev.kagzi.engine.Engine;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Whether the server can be used: PostgreSQL answers, migrations are done, gRPC accepts calls.
 * Thread-safe.
 */
final class Readiness {
  private volatile String stage = "starting: waiting for PostgreSQL";
  private volatile @Nullable Engine engine;

  /** The engine is there: the database was reached and its schema is up to date. */
  void engineStarted(Engine started) {
    stage = "starting: opening the gRPC port";
    engine = started;
  }

  /** Calls are accepted. */
  void accepting() {
    stage = "";
  }

  void stopping() {
    stage = "stopping";
  }

  /** Why the server cannot be used now, or nothing. Asks the database, so it may block. */
  Optional<String> trouble() {
    String now = stage;
    Engine started = engine;
    if (!now.isEmpty() || started == null) {
      return Optional.of(now);
    }
    return started.trouble();
  }
}
