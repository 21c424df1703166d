package dev.kagzi.engine.internal.request;

import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.value.Refusal;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Executes each call once, even if it is sent several times. */
public final class IdempotentCalls {
  /** How long a call is stored, as in {@link #PURGE_SQL}. */
  public static final Duration REMEMBERED = Duration.ofDays(1);

  static final String INSERT_SQL =
      """
      INSERT INTO kagzi.requests (request_id, call, created_at)
      VALUES (?, ?, kagzi.clock())
          ON CONFLICT (request_id) DO NOTHING
      """;

  static final String FIND_SQL =
      "SELECT call, answer FROM kagzi.requests WHERE request_id = ? FOR UPDATE";

  static final String ANSWER_SQL = "UPDATE kagzi.requests SET answer = ? WHERE request_id = ?";

  static final String PURGE_SQL =
      """
      DELETE FROM kagzi.requests
       WHERE request_id IN (
               SELECT request_id FROM kagzi.requests
                WHERE created_at < kagzi.clock() - interval '1 day'
                ORDER BY created_at LIMIT ? FOR UPDATE SKIP LOCKED)
      """;

  private IdempotentCalls() {}

  @FunctionalInterface
  public interface Recall<T> {
    T recall(Session tx, String stored) throws SQLException;
  }

  /**
   * Executes the effect in a transaction, unless the call was executed before. Repeats the
   * transaction if the connection breaks: the stored call shows whether it was committed.
   *
   * @param store converts the answer to the text that {@code recall} reads
   */
  public static <T> T once(
      Database database,
      IdempotentCall call,
      Session.Work<T> effect,
      Function<T, String> store,
      Recall<T> recall) {
    return database.writeRepeatable(
        tx -> {
          String stored = begin(tx, call);
          if (stored != null) {
            return recall.recall(tx, stored);
          }
          T answer = effect.run(tx);
          storeAnswer(tx, call, store.apply(answer));
          return answer;
        });
  }

  /**
   * Inserts the call, or locks its row until the end of the transaction. Returns the answer that
   * {@link #storeAnswer} stored; null if there is none.
   */
  public static @Nullable String begin(Session tx, IdempotentCall call) throws SQLException {
    if (tx.query(INSERT_SQL).bind(call.id()).bind(call.what()).update() > 0) {
      return null;
    }
    // Absent only if the row was purged after the INSERT found it: then the call counts as new.
    Stored stored =
        tx.query(FIND_SQL)
            .bind(call.id())
            .first(row -> new Stored(row.text("call"), row.textOrNull("answer")))
            .orElse(new Stored(call.what(), null));
    if (!stored.what.equals(call.what())) {
      throw Refusal.invalid(
          "request_id",
          call.id() + " was used for " + Refusal.shorten(stored.what),
          "a new id for each call; the same one only to repeat a call");
    }
    return stored.answer;
  }

  public static void storeAnswer(Session tx, IdempotentCall call, String answer)
      throws SQLException {
    tx.query(ANSWER_SQL).bind(answer).bind(call.id()).update();
  }

  public static boolean isStored(Database database, IdempotentCall call) {
    return find(database, call).isPresent();
  }

  /** Returns the answer that {@link #storeAnswer} stored, without a lock; null if there is none. */
  public static @Nullable String storedAnswer(Database database, IdempotentCall call) {
    return find(database, call).map(Stored::answer).orElse(null);
  }

  private record Stored(String what, @Nullable String answer) {}

  private static Optional<Stored> find(Database database, IdempotentCall call) {
    return database.read(
        session ->
            session
                .query("SELECT call, answer FROM kagzi.requests WHERE request_id = ?")
                .bind(call.id())
                .first(row -> new Stored(row.text("call"), row.textOrNull("answer")))
                .filter(stored -> stored.what.equals(call.what())));
  }

  /** Deletes calls that are too old to be repeated; returns how many. */
  public static int purge(Session tx, int max) throws SQLException {
    return tx.query(PURGE_SQL).bind(max).update();
  }
}
