package dev.kagzi.engine.run;

import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.request.IdempotentCall;
import dev.kagzi.engine.internal.request.IdempotentCalls;
import dev.kagzi.engine.value.Limits;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Caches the default versions of all workflow types, because every start needs one. The cache is
 * read again after a change on this or another server. Thread-safe.
 */
public final class DefaultVersions implements Versions {
  private static final Logger log = LoggerFactory.getLogger(DefaultVersions.class);

  static final String READ_SQL =
      """
      SELECT namespace, workflow_type, default_version
        FROM kagzi.workflow_types
       ORDER BY namespace, workflow_type
       LIMIT 1000000
      """;

  static final String SET_SQL =
      """
      INSERT INTO kagzi.workflow_types (namespace, workflow_type, default_version, updated_at)
      VALUES (?, ?, ?, kagzi.clock())
          ON CONFLICT (namespace, workflow_type) DO UPDATE
             SET default_version = excluded.default_version, updated_at = excluded.updated_at
      """;

  static final String FORMER_SQL =
      """
      SELECT default_version FROM kagzi.workflow_types
       WHERE namespace = ? AND workflow_type = ?
         FOR UPDATE
      """;

  private final Database database;
  private final Limits limits;
  private final Runnable publishChange;
  private final ReentrantLock reading = new ReentrantLock();
  private volatile Map<Key, String> cached = Map.of();
  private volatile boolean stale;

  private record Key(String namespace, String type) {}

  public DefaultVersions(Database database, Limits limits, Runnable publishChange) {
    this.database = database;
    this.limits = limits;
    this.publishChange = publishChange;
  }

  @Override
  public String resolve(String namespace, String type, String version) {
    return version.isEmpty() ? cached.getOrDefault(new Key(namespace, type), "") : version;
  }

  /**
   * Sets the version of new runs of the type that are started without a version. The empty version
   * is a version like any other. Existing runs keep their version. A repeated call with the same
   * request id takes effect once. Blocks.
   *
   * @return the previous default version
   */
  public String set(String namespace, String type, String version, @Nullable UUID requestId) {
    limits.checkName("namespace", namespace);
    limits.checkName("workflow_type", type);
    limits.checkOptionalName("version", version);
    String previous =
        IdempotentCalls.once(
            database,
            IdempotentCall.of(requestId, "SetDefaultVersion", namespace, type, version),
            tx -> {
              String before =
                  tx.query(FORMER_SQL)
                      .bind(namespace)
                      .bind(type)
                      .first(row -> row.text("default_version"))
                      .orElse("");
              tx.query(SET_SQL).bind(namespace).bind(type).bind(version).update();
              return before;
            },
            before -> before,
            (tx, before) -> before);
    read();
    publishChange.run();
    return previous;
  }

  /**
   * Reads the versions again on a new thread, after a possible change on another server. If that
   * fails, {@link #isStale} stays true and a chore tries again.
   */
  public void refresh() {
    stale = true;
    Thread.ofVirtual()
        .name("kagzi-versions")
        .start(
            () -> {
              try {
                read();
              } catch (RuntimeException unavailable) {
                log.atDebug()
                    .addKeyValue("cause", unavailable.getMessage())
                    .log("default versions could not be read");
              }
            });
  }

  public boolean isStale() {
    return stale;
  }

  public void read() {
    reading.lock();
    try {
      stale = false;
      cached = readAll();
    } catch (RuntimeException unavailable) {
      stale = true;
      throw unavailable;
    } finally {
      reading.unlock();
    }
  }

  private Map<Key, String> readAll() {
    Map<Key, String> all = new HashMap<>();
    database.read(
        session ->
            session
                .query(READ_SQL)
                .list(
                    row ->
                        all.put(
                            new Key(row.text("namespace"), row.text("workflow_type")),
                            row.text("default_version"))));
    return Map.copyOf(all);
  }
}
