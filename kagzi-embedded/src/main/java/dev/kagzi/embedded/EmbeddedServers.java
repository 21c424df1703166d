package dev.kagzi.embedded;

import java.util.Map;
import java.util.function.Consumer;

/**
 * What package {@code inside} implements. Public, because that package is in another class loader;
 * applications use {@link EmbeddedServer}.
 */
public interface EmbeddedServers {
  /**
   * A server to start or a database to migrate.
   *
   * @param options by their keys
   * @param http whether the server opens an HTTP port
   * @param safeDatabase whether the database must keep acknowledged commits
   * @param onFailure called when an essential thread of the server has ended
   */
  record Request(
      Map<String, String> options,
      boolean http,
      boolean safeDatabase,
      Consumer<Throwable> onFailure) {}

  /** Starts a server. */
  EmbeddedServer start(Request request);

  /** Migrates a database, and returns the version of its schema. */
  String migrate(Request request);
}
