package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.internal.db.Query;
import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one kind that applications insert in their own transactions. A server locks some
 * of them, executes them, and deletes them in the same transaction.
 *
 * <p>Namespaces take turns, so that one with many requests does not delay the others. Not
 * thread-safe: it remembers whose turn is next.
 *
 * @param <K> the key of a row
 * @param <R> what a row requests
 */
public abstract class RequestRows<K, R> {
  /** A larger request is refused without being read, because no server would accept it. */
  static final long REQUEST_BYTES_MAX = 8 << 20;

  private static final int NAMESPACES_MAX = 100;
  private static final long RETRY_FIRST_MS = 200;

  /** The longest time between two tries of a request. */
  public static final long RETRY_MS_MAX = 10_000;

  private final Statements statements;

  /** The last namespace of the previous batch, if there were more; otherwise empty. */
  private String firstNamespace = "";

  private int turn;

  /** Where the next batch of a namespace begins, if the previous one did not reach the end. */
  private final Map<String, RunId> firstRuns = new HashMap<>();

  /** The statements about the table. */
  protected record Statements(
      String namespaces,
      String read,
      String delete,
      String refuse,
      String postpone,
      String purge) {}

  /**
   * A row that this transaction has locked.
   *
   * @param attempts how often it was tried before
   * @param request null if the row cannot be read; then {@code unreadable} is set
   */
  public record Requested<K, R>(
      K key, RunId runId, int attempts, @Nullable R request, @Nullable Refusal unreadable) {}

  /** The reason why a request was not executed. */
  public record Failed<K>(K key, String code, String message) {}

  /** The size of a row that this transaction has locked. */
  protected record Size<K>(K key, RunId runId, long bytes) {}

  /**
   * Rows of one namespace that this transaction has locked.
   *
   * @param next the run with which the next batch begins; null to begin again
   */
  protected record Locked<K>(String namespace, List<Size<K>> sizes, @Nullable RunId next) {}

  protected RequestRows(Statements statements) {
    this.statements = statements;
  }

  /**
   * Locks requests of this namespace that are due and that no other transaction has locked.
   *
   * @param from the run to begin with; null for the first one
   * @param max at least 2
   */
  protected abstract Locked<K> lockIn(Session tx, String namespace, @Nullable RunId from, int max)
      throws SQLException;

  protected abstract Query bindKeys(Query query, List<K> keys) throws SQLException;

  protected abstract K key(Row row) throws SQLException;

  /**
   * Returns what the row requests.
   *
   * @throws RuntimeException if the row is invalid
   */
  protected abstract R request(Row row) throws SQLException;

  /**
   * Locks requests that no other transaction has locked, at most {@code max} of them, and not many
   * more than {@code bytesMax} bytes.
   */
  public List<Requested<K, R>> lock(Session tx, int max, long bytesMax) throws SQLException {
    List<String> namespaces = namespaces(tx);
    List<Locked<K>> locked = new ArrayList<>(namespaces.size());
    for (String namespace : namespaces) {
      int share = Math.max(2, max / namespaces.size());
      locked.add(lockIn(tx, namespace, firstRuns.get(namespace), share));
    }
    List<Requested<K, R>> requests = new ArrayList<>();
    List<K> keys = choose(locked, bytesMax, requests);
    if (!keys.isEmpty()) {
      requests.addAll(bindKeys(tx.query(statements.read), keys).bind(keys.size()).list(this::read));
    }
    return requests;
  }

  /** Takes the first row of each namespace, then the second ones, until there are enough bytes. */
  private List<K> choose(List<Locked<K>> locked, long bytesMax, List<Requested<K, R>> tooLarge) {
    List<K> keys = new ArrayList<>();
    int[] taken = new int[locked.size()];
    long bytes = 0;
    boolean more = true;
    for (int i = 0; more; i++) {
      more = false;
      for (int n = 0; n < taken.length; n++) {
        List<Size<K>> sizes = locked.get(n).sizes;
        if (i < sizes.size() && bytes < bytesMax) {
          more = true;
          taken[n] = i + 1;
          Size<K> each = sizes.get(i);
          if (each.bytes > REQUEST_BYTES_MAX) {
            tooLarge.add(new Requested<>(each.key, each.runId, 0, null, tooLarge(each.bytes)));
          } else {
            keys.add(each.key);
            bytes += each.bytes;
          }
        }
      }
    }
    for (int n = 0; n < taken.length; n++) {
      remember(locked.get(n), taken[n]);
    }
    return keys;
  }

  private void remember(Locked<K> locked, int taken) {
    RunId next = taken < locked.sizes.size() ? locked.sizes.get(taken).runId : locked.next;
    if (next == null) {
      firstRuns.remove(locked.namespace);
    } else {
      firstRuns.put(locked.namespace, next);
    }
  }

  /** Returns the namespaces of a batch. Each call puts another namespace first. */
  private List<String> namespaces(Session tx) throws SQLException {
    List<String> found = namespacesFrom(tx, firstNamespace);
    if (found.isEmpty() && !firstNamespace.isEmpty()) {
      found = namespacesFrom(tx, "");
    }
    if (found.size() == NAMESPACES_MAX) {
      firstNamespace = found.getLast();
    } else {
      firstNamespace = "";
      firstRuns.keySet().retainAll(found);
    }
    turn++;
    Collections.rotate(found, turn);
    return found;
  }

  private List<String> namespacesFrom(Session tx, String from) throws SQLException {
    return tx.query(statements.namespaces)
        .bind(from)
        .bind(NAMESPACES_MAX)
        .list(row -> row.text("namespace"));
  }

  private static Refusal tooLarge(long bytes) {
    return Refusal.invalid(
        "bytes of the request", String.valueOf(bytes), "at most " + REQUEST_BYTES_MAX);
  }

  private Requested<K, R> read(Row row) throws SQLException {
    K key = key(row);
    RunId runId = row.runId("run_id");
    int attempts = row.integer("attempts");
    try {
      return new Requested<>(key, runId, attempts, request(row), null);
    } catch (Refusal refusal) {
      return new Requested<>(key, runId, attempts, null, refusal);
    } catch (RuntimeException e) {
      Refusal invalid =
          Refusal.invalid("options", String.valueOf(e.getMessage()), "headers and a retry policy");
      return new Requested<>(key, runId, attempts, null, invalid);
    }
  }

  /** Deletes requests that were executed. */
  public void delete(Session tx, List<K> executed) throws SQLException {
    if (!executed.isEmpty()) {
      bindKeys(tx.query(statements.delete), executed).update();
    }
  }

  /** Keeps requests that were refused, with the reason. */
  public void refuse(Session tx, List<Failed<K>> refused) throws SQLException {
    if (!refused.isEmpty()) {
      bindFailed(tx.query(statements.refuse), refused).update();
    }
  }

  /**
   * Postpones requests that failed for a temporary reason. The delay doubles with each attempt, up
   * to {@link #RETRY_MS_MAX}.
   */
  public void postpone(Session tx, List<Failed<K>> failed) throws SQLException {
    if (!failed.isEmpty()) {
      Query query = tx.query(statements.postpone).bind(RETRY_MS_MAX).bind(RETRY_FIRST_MS);
      bindFailed(query, failed).update();
    }
  }

  private Query bindFailed(Query query, List<Failed<K>> failed) throws SQLException {
    return bindKeys(query, failed.stream().map(Failed::key).toList())
        .bindTexts(failed, Failed::code)
        .bindTexts(failed, Failed::message);
  }

  /** Deletes requests that were refused longer ago than this; returns how many. */
  public int purge(Session session, long ageMs, int max) throws SQLException {
    return session.query(statements.purge).bind(ageMs).bind(max).update();
  }
}
