package dev.kagzi.engine.internal.db;

import dev.kagzi.engine.value.Claim;
import java.sql.SQLException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.random.RandomGenerator;

/**
 * The generation of the data. PostgreSQL begins a new timeline when a standby is promoted and when
 * a backup is recovered, and each timeline begins a new generation. The last commits of the
 * previous timeline may then be missing, although a server has acted on them. A restored dump also
 * begins a generation, because its tables have other object ids.
 *
 * <p>Each session that {@link Database#open} returns has read the generation before its first
 * statement. The first session on a new timeline begins a new generation, in a transaction that
 * also executes {@link Listener#begins}. Sessions that are opened meanwhile wait for its row lock.
 *
 * @param number increases with each generation; {@link Claim#epochBase} is made of it
 * @param lineage the random values of the generations that this one follows, and its own as the
 *     last one. They tell generations apart if two databases have begun generations with the same
 *     number
 */
public record Generation(int number, List<String> lineage) {
  static final Generation UNKNOWN = new Generation(-1, List.of());

  static final String READ_SQL =
      """
      SELECT g.generation, g.lineage, g.identity IS NOT DISTINCT FROM i.identity AS is_present,
             i.identity
        FROM kagzi.database_generation g
       CROSS JOIN (SELECT s.system_identifier::text || '/'
                            || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) || '/'
                            || 'kagzi.database_generation'::regclass::oid::text AS identity
                     FROM pg_control_system() AS s) AS i
      """;

  static final String STORED_SQL = "SELECT generation, lineage FROM kagzi.database_generation";

  static final String LOCK_SQL =
      "SELECT generation, lineage, identity FROM kagzi.database_generation FOR UPDATE";

  static final String UPDATE_SQL =
      """
      UPDATE kagzi.database_generation SET generation = ?, identity = ?, lineage = ?::text[]
      """;

  /** Unknown function, not supported, not permitted: a PostgreSQL without visible timelines. */
  private static final Set<String> WITHOUT_TIMELINES = Set.of("42883", "0A000", "42501");

  private static final int BEGIN_MS_MAX = 120_000;

  /**
   * A new generation skips fewer than {@code remaining / SKIPPED_PART} of the remaining numbers.
   */
  private static final int SKIPPED_PART = 64;

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

    /**
     * The database does not show its timeline, so no new generation can be found. Called for each
     * session.
     */
    void withoutTimelines(SQLException cause);
  }

  /**
   * What a database has stored.
   *
   * @param isPresent whether it was stored on the present timeline
   */
  private record Stored(Generation generation, boolean isPresent, String identity) {
    /**
     * Whether a session may use it.
     *
     * @throws SQLException if the server has seen a generation that followed this one: the database
     *     is a former primary that has come back
     */
    boolean isUsable(Generation known) throws SQLException {
      if (!isPresent) {
        return false;
      }
      if (known.isBefore(generation)) {
        return true;
      }
      if (generation.isBefore(known)) {
        throw new SQLException(
            "the database has generation %d, which was followed by %d (expected: the primary of generation %d or later; stop this former primary, or, if its data are to be used, restart all servers of Kagzi)"
                .formatted(generation.number, known.number, known.number));
      }
      return false;
    }
  }

  boolean isUnknown() {
    return number < 0;
  }

  /** Whether the other generation is this one, or has followed it. */
  boolean isBefore(Generation other) {
    return lineage.isEmpty() || other.lineage.lastIndexOf(lineage.getLast()) >= 0;
  }

  /**
   * Returns the generation of the database behind a session, and begins a new one if PostgreSQL has
   * begun a new timeline, or if the database does not descend from the last generation that this
   * server has seen.
   *
   * @param known the last generation that this server has seen: a new one has a higher number,
   *     although the database may have lost it
   */
  static Generation of(Session session, Generation known, Listener listener) throws SQLException {
    Stored found;
    try {
      found = read(session);
    } catch (SQLException e) {
      if (WITHOUT_TIMELINES.contains(String.valueOf(e.getSQLState()))) {
        listener.withoutTimelines(e);
        return session.query(STORED_SQL).first(Generation::map).orElse(known);
      }
      throw e;
    }
    if (found.isUsable(known)) {
      return found.generation;
    }
    String nonce = UUID.randomUUID().toString();
    Generation begun =
        session.withNetworkTimeout(
            BEGIN_MS_MAX,
            () -> session.inTransaction(tx -> begin(tx, found, known, nonce, listener)));
    if (found.isPresent && begun.lineage.contains(nonce)) {
      // No primary was replaced, so other servers may still have open sessions of the previous
      // generation.
      BackendProcess.endOthers(session);
    }
    return begun;
  }

  private static Stored read(Session session) throws SQLException {
    return session
        .query(READ_SQL)
        .first(row -> new Stored(map(row), row.bool("is_present"), row.text("identity")))
        .orElseThrow(() -> new SQLException("kagzi.database_generation: no row (expected: one)"));
  }

  private static Generation map(Row row) throws SQLException {
    return new Generation(row.integer("generation"), row.texts("lineage"));
  }

  private static Generation begin(
      Session tx, Stored found, Generation known, String nonce, Listener listener)
      throws SQLException {
    Stored stored =
        tx.query(LOCK_SQL)
            .first(
                row -> {
                  String identity = row.textOrEmpty("identity");
                  return new Stored(map(row), found.identity.equals(identity), identity);
                })
            .orElseThrow();
    if (stored.isUsable(known)) {
      return stored.generation;
    }
    Generation before = stored.generation;
    int number = before.number;
    if (!stored.identity.isEmpty()) {
      number = next(Math.max(before.number, known.number), ThreadLocalRandom.current());
      listener.begins(tx);
    }
    Generation next = new Generation(number, lineage(before, known, nonce));
    tx.query(UPDATE_SQL)
        .bind(number)
        .bind(found.identity)
        .bindTexts(next.lineage, value -> value)
        .update();
    return next;
  }

  /** A new generation follows what the database has stored, and what this server has seen. */
  private static List<String> lineage(Generation stored, Generation known, String nonce) {
    Set<String> all = new LinkedHashSet<>(stored.lineage);
    all.addAll(known.lineage);
    all.add(nonce);
    return List.copyOf(all);
  }

  /**
   * Chooses the number of a new generation. It skips a random part of the remaining numbers. So the
   * number probably differs from that of a generation that the database has lost and that no
   * running server has seen.
   */
  static int next(int before, RandomGenerator random) {
    int remaining = Claim.GENERATION_MAX - before;
    return before + 1 + random.nextInt(Math.max(1, remaining / SKIPPED_PART));
  }
}
