package dev.kagzi.engine.internal.db;

import java.sql.SQLException;
import java.util.Set;

/**
 * The generation of the data: how many timelines PostgreSQL has begun since the schema was created.
 * PostgreSQL begins one when a standby is promoted, and when a backup is recovered. The last
 * commits of the timeline before may then be missing, although a server has acted on them. A dump
 * that was restored begins a generation too: its tables have other object ids.
 *
 * <p>Each session of an engine reads the generation before its first statement. The first session
 * on a new timeline begins a new generation, in a transaction that also executes {@link
 * Listener#begins}. Sessions that are opened meanwhile wait for its row lock.
 */
public final class Generation {
  static final String READ_SQL =
      """
      SELECT g.generation, g.identity IS NOT DISTINCT FROM i.identity AS is_present, i.identity
        FROM kagzi.database_generation g
       CROSS JOIN (SELECT s.system_identifier::text || '/'
                            || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) || '/'
                            || 'kagzi.database_generation'::regclass::oid::text AS identity
                     FROM pg_control_system() AS s) AS i
      """;

  static final String STORED_SQL = "SELECT generation FROM kagzi.database_generation";

  static final String LOCK_SQL =
      "SELECT generation, identity FROM kagzi.database_generation FOR UPDATE";

  static final String UPDATE_SQL =
      "UPDATE kagzi.database_generation SET generation = ?, identity = ?";

  /** Unknown function, not supported, not permitted: a PostgreSQL without visible timelines. */
  private static final Set<String> WITHOUT_TIMELINES = Set.of("42883", "0A000", "42501");

  private static final int BEGIN_MS_MAX = 300_000;

  private Generation() {}

  /** Receives new generations. */
  public interface Listener {
    /**
     * Called within the transaction that begins a generation, before any session can act on it.
     * Other servers may call it for the same generation, if this transaction fails.
     */
    void begins(Session tx) throws SQLException;

    /**
     * This server has seen that a new generation has begun. Called at least once per generation, by
     * the thread that opens a session; must not block.
     */
    void begun(int generation);
  }

  private record Present(int generation, boolean isPresent, String identity) {}

  /**
   * Returns the generation of the database behind a session, and begins a new one if PostgreSQL has
   * begun a new timeline.
   *
   * @param known the highest generation that this server has seen: a new one is higher, although
   *     the database may have lost it
   */
  static int of(Session session, int known, Listener listener) throws SQLException {
    Present found;
    try {
      found = read(session);
    } catch (SQLException e) {
      if (WITHOUT_TIMELINES.contains(String.valueOf(e.getSQLState()))) {
        return session.query(STORED_SQL).first(row -> row.integer("generation")).orElse(known);
      }
      throw e;
    }
    if (found.isPresent && found.generation >= known) {
      return found.generation;
    }
    return session.withNetworkTimeout(
        BEGIN_MS_MAX, () -> session.inTransaction(tx -> begin(tx, found, known, listener)));
  }

  private static Present read(Session session) throws SQLException {
    return session
        .query(READ_SQL)
        .first(
            row ->
                new Present(
                    row.integer("generation"), row.bool("is_present"), row.text("identity")))
        .orElseThrow(() -> new SQLException("kagzi.database_generation: no row (expected: one)"));
  }

  private static int begin(Session tx, Present found, int known, Listener listener)
      throws SQLException {
    Present stored =
        tx.query(LOCK_SQL)
            .first(
                row -> {
                  String identity = row.textOrNull("identity");
                  return new Present(
                      row.integer("generation"),
                      found.identity.equals(identity),
                      identity == null ? "" : identity);
                })
            .orElseThrow();
    if (stored.isPresent && stored.generation >= known) {
      return stored.generation;
    }
    int next = stored.generation;
    if (!stored.identity.isEmpty()) {
      next = Math.max(stored.generation, known) + 1;
      listener.begins(tx);
    }
    tx.query(UPDATE_SQL).bind(next).bind(found.identity).update();
    return next;
  }
}
