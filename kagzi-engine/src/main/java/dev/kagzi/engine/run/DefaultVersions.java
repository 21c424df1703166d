package dev.kagzi.engine.run;

import dev.kagzi.engine.db.Database;
import dev.kagzi.engine.value.Limits;
import java.util.HashMap;
import java.util.Map;

/**
 * The default versions of all types, in memory: they are few, and every start asks for one. They
 * are read anew when somebody changes one, here or on another server. Thread-safe.
 */
public final class DefaultVersions implements Versions {
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

  private final Database database;
  private final Limits limits;
  private final Runnable tellOthers;
  private volatile Map<Key, String> known = Map.of();

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
    limits.checkName("namespace", namespace);
    limits.checkName("workflow_type", type);
    limits.checkOptionalName("version", version);
    read();
    String former = resolve(namespace, type, "");
    database.write(tx -> tx.query(SET_SQL).bind(namespace).bind(type).bind(version).update());
    read();
    tellOthers.run();
    return former;
  }

  /** Somebody has changed something, perhaps. Blocks. */
  public synchronized void read() {
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
    known = Map.copyOf(all);
  }
}
