package dev.kagzi.engine.run;

import dev.kagzi.engine.db.Database;
import dev.kagzi.engine.request.IdempotentCall;
import dev.kagzi.engine.request.IdempotentCalls;
import dev.kagzi.engine.value.Limits;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The default versions of all types, in memory: they are few, and every start asks for one. They
 * are read anew when somebody changes one, here or on another server. Thread-safe.
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
  private final Runnable tellOthers;
  private final ReentrantLock reading = new ReentrantLock();
  private volatile Map<Key, String> known = Map.of();
  private volatile boolean stale;

  private record Key(String namespace, String type) {}

  public DefaultVersions(Database database, Limits limits, Runnable tellOthers) {
    this.database = database;
    this.limits = limits;
    this.tellOthers = tellOthers;
  }

  @Override
  public String resolve(String namespace, String type, String version) {
    return version.isEmpty() ? known.getOrDefault(new Key(namespace, type), "") : version;
  }

  /**
   * New runs of the type have this version if they ask for none; the empty one is a version like
   * any other. What has started stays as it is. Blocks.
   *
   * @return what it was before
   */
  public String set(String namespace, String type, String version) {
    return set(namespace, type, version, null);
  }

  /** The same; a call with the same request id is executed once. */
  public String set(String namespace, String type, String version, @Nullable UUID requestId) {
    limits.checkName("namespace", namespace);
    limits.checkName("workflow_type", type);
    limits.checkOptionalName("version", version);
    String former =
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
    tellOthers.run();
    return former;
  }

  /**
   * Somebody has changed something, perhaps: reads anew, on a thread of its own. If that fails, a
   * chore sees that it is still to be done.
   */
  public void renew() {
    stale = true;
    Thread.ofVirtual()
        .name("kagzi-versions")
        .start(
            () -> {
              try {
                read();
              } catch (RuntimeException away) {
                log.atDebug()
                    .addKeyValue("cause", away.getMessage())
                    .log("default versions could not be read");
              }
            });
  }

  /** Whether what is in memory may be old. */
  public boolean isStale() {
    return stale;
  }

  /** Reads all of them. Blocks. */
  public void read() {
    reading.lock();
    try {
      stale = false;
      known = all();
    } catch (RuntimeException away) {
      stale = true;
      throw away;
    } finally {
      reading.unlock();
    }
  }

  private Map<Key, String> all() {
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
