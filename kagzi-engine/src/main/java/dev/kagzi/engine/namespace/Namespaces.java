package dev.kagzi.engine.namespace;

import dev.kagzi.engine.db.Database;
import dev.kagzi.engine.db.Row;
import dev.kagzi.engine.db.Session;
import dev.kagzi.engine.page.Cursor;
import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.page.Pager;
import dev.kagzi.engine.request.IdempotentCall;
import dev.kagzi.engine.request.IdempotentCalls;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Creates, changes and lists namespaces, and knows which of them work. Thread-safe; blocks. */
public final class Namespaces {
  private static final String COLUMNS =
      "namespace, id, display_name, description, enabled, created_at, updated_at,"
          + " failure_handler_task_queue, retention_ms";

  private static final String INSERT =
      """
      INSERT INTO kagzi.namespaces (namespace, id, display_name, description, retention_ms)
      VALUES (?, ?, ?, ?, ?)
          ON CONFLICT (namespace) DO NOTHING
      RETURNING\s"""
          + COLUMNS;

  private static final String SELECT =
      "SELECT " + COLUMNS + " FROM kagzi.namespaces WHERE namespace = ?";

  private static final String UPDATE =
      """
      UPDATE kagzi.namespaces
         SET display_name = coalesce(?, display_name), description = coalesce(?, description),
             failure_handler_task_queue = CASE WHEN ? THEN NULL ELSE failure_handler_task_queue END,
             retention_ms = CASE WHEN ? THEN NULL ELSE coalesce(?, retention_ms) END,
             updated_at = kagzi.clock()
       WHERE namespace = ?
      RETURNING\s"""
          + COLUMNS;

  private static final String SET_ENABLED =
      """
      UPDATE kagzi.namespaces
         SET enabled = ?, updated_at = kagzi.clock()
       WHERE namespace = ?
      RETURNING\s"""
          + COLUMNS;

  // Written only when it changes: every worker that has the type says it again at its start.
  private static final String MARK_FAILURE_HANDLER =
      """
      UPDATE kagzi.namespaces
         SET failure_handler_task_queue = ?
       WHERE namespace = ?
         AND failure_handler_task_queue IS DISTINCT FROM ?
      """;

  private static final String LIST_FIRST =
      "SELECT " + COLUMNS + " FROM kagzi.namespaces ORDER BY namespace LIMIT ?";

  private static final String LIST_AFTER =
      "SELECT " + COLUMNS + " FROM kagzi.namespaces WHERE namespace > ? ORDER BY namespace LIMIT ?";

  private static final String LIST_BEFORE =
      "SELECT "
          + COLUMNS
          + " FROM kagzi.namespaces WHERE namespace < ? ORDER BY namespace DESC LIMIT ?";

  private static final String NAMES =
      "SELECT namespace FROM kagzi.namespaces WHERE namespace > ? ORDER BY namespace LIMIT 1000";

  private static final String RETENTION =
      "SELECT retention_ms FROM kagzi.namespaces WHERE namespace = ?";

  private static final String COUNT = "SELECT count(*) AS rows FROM kagzi.namespaces";

  private static final long RETENTION_MS_MAX = 100L * 366 * 24 * 60 * 60 * 1000;

  private final Database database;
  private final Limits limits;
  private final boolean autoCreate;
  private final NamespaceCache cache;
  private final Consumer<String> tellOthers;

  /**
   * Knows nothing yet.
   *
   * @param autoCreate a name that is not there is created when it is first used
   * @param listener hears of namespaces that are enabled or disabled, here or elsewhere
   * @param tellOthers is told of those that are enabled or disabled here
   */
  public Namespaces(
      Database database,
      Limits limits,
      boolean autoCreate,
      NamespaceListener listener,
      Consumer<String> tellOthers) {
    this(database, limits, autoCreate, listener, tellOthers, System::nanoTime);
  }

  Namespaces(
      Database database,
      Limits limits,
      boolean autoCreate,
      NamespaceListener listener,
      Consumer<String> tellOthers,
      LongSupplier nanoClock) {
    this.database = database;
    this.limits = limits;
    this.autoCreate = autoCreate;
    this.cache = new NamespaceCache(database, nanoClock, listener);
    this.tellOthers = tellOthers;
  }

  /**
   * Whether the namespace works. Costs nothing for a name that was met before; an unknown one is
   * looked up, and created or refused with NOT_FOUND.
   */
  public NamespaceCheck check(String namespace) {
    NamespaceCheck known = cache.get(namespace);
    return known == null ? lookUp(namespace) : known;
  }

  /**
   * True unless the namespace is known to be disabled. From memory, whatever its age: whoever asks
   * is told by {@link NamespaceListener} when that changes. Never blocks.
   */
  public boolean isOpen(String namespace) {
    return cache.peek(namespace) != NamespaceCheck.DISABLED;
  }

  /** Something may have changed elsewhere: what is known is read anew, in the background. */
  public void renew() {
    cache.renewNow();
  }

  /** True when {@link #check} answers from memory; otherwise it asks the database, and blocks. */
  public boolean isAtHand(String namespace) {
    return cache.isAtHand(namespace);
  }

  /** Refuses a namespace that is disabled or not there: nothing starts in it. */
  public void requireEnabled(String namespace) {
    if (!check(namespace).isEnabled()) {
      throw Refusal.of(
          Refusal.Code.NAMESPACE_DISABLED,
          "namespace",
          Refusal.shorten(namespace),
          "namespace: "
              + Refusal.shorten(namespace)
              + " is disabled (expected: an enabled one; enable it to start runs in it)");
    }
  }

  private NamespaceCheck lookUp(String namespace) {
    limits.checkName("namespace", namespace);
    if (autoCreate) {
      database.writeRepeatable(session -> insert(session, namespace, "", "", null));
    }
    return cache.putIfAbsent(namespace, get(namespace).enabled());
  }

  /** A new namespace, enabled, whose runs are kept as long as the server says. */
  public NamespaceView create(String namespace, String displayName, String description) {
    return create(namespace, displayName, description, null, null);
  }

  /** The same with a retention of its own. */
  public NamespaceView create(
      String namespace, String displayName, String description, long retentionMs) {
    return create(namespace, displayName, description, retentionMs, null);
  }

  /**
   * A new namespace, enabled. Refused with ALREADY_EXISTS if there is one of that name with another
   * content.
   *
   * @param retentionMs how long runs are kept after their end; null: as long as the server says, 0:
   *     for ever
   * @param requestId chosen by the caller, who may then repeat the call safely; null for none
   */
  public NamespaceView create(
      String namespace,
      String displayName,
      String description,
      @Nullable Long retentionMs,
      @Nullable UUID requestId) {
    limits.checkName("namespace", namespace);
    limits.checkOptionalName("display_name", displayName);
    limits.checkText("description", description);
    checkRetention(retentionMs);
    NamespaceView created =
        once(
            IdempotentCall.of(requestId, "CreateNamespace", namespace),
            namespace,
            tx -> {
              List<NamespaceView> made =
                  insert(tx, namespace, displayName, description, retentionMs);
              return made.isEmpty()
                  ? same(tx, namespace, displayName, description, retentionMs)
                  : made.get(0);
            });
    cache.put(namespace, created.enabled());
    return created;
  }

  /** A name with the same content is the same namespace: the call was sent again. */
  private static NamespaceView same(
      Session tx,
      String namespace,
      String displayName,
      String description,
      @Nullable Long retentionMs)
      throws SQLException {
    NamespaceView there = find(tx, namespace);
    if (!there.displayName().equals(displayName)
        || !there.description().equals(description)
        || !Objects.equals(there.retentionMs(), retentionMs)) {
      throw Refusal.of(
          Refusal.Reason.ALREADY_EXISTS,
          "namespace",
          namespace,
          "namespace: "
              + namespace
              + " exists with another display name, description or retention (expected: a name"
              + " that is not taken)");
    }
    return there;
  }

  private static NamespaceView find(Session session, String namespace) throws SQLException {
    return session
        .query(SELECT)
        .bind(namespace)
        .first(Namespaces::view)
        .orElseThrow(() -> Refusal.notFound("namespace", namespace));
  }

  private NamespaceView once(
      IdempotentCall call, String namespace, Session.Work<NamespaceView> effect) {
    return IdempotentCalls.once(
        database, call, effect, view -> "", (tx, stored) -> find(tx, namespace));
  }

  private static void checkRetention(@Nullable Long retentionMs) {
    if (retentionMs != null && (retentionMs < 0 || retentionMs > RETENTION_MS_MAX)) {
      throw Refusal.invalid("retention_ms", retentionMs, "0 to " + RETENTION_MS_MAX);
    }
  }

  private static List<NamespaceView> insert(
      Session session,
      String namespace,
      String displayName,
      String description,
      @Nullable Long retentionMs)
      throws SQLException {
    return session
        .query(INSERT)
        .bind(namespace)
        .bind(RunId.next().value())
        .bind(displayName)
        .bind(description)
        .bindLong(retentionMs)
        .list(Namespaces::view);
  }

  /** Refused with NOT_FOUND. */
  public NamespaceView get(String namespace) {
    limits.checkName("namespace", namespace);
    return database.read(session -> find(session, namespace));
  }

  /** All namespaces, by name. */
  public Page<NamespaceView> list(PageSpec page) {
    return database.answer(session -> Pager.page(page, "namespaces", new All(session)));
  }

  /** The same for a caller who chose no request id. */
  public NamespaceView update(String namespace, NamespaceUpdate update) {
    return update(namespace, update, null);
  }

  /** Changes what the update names. Refused with NOT_FOUND. */
  public NamespaceView update(String namespace, NamespaceUpdate update, @Nullable UUID requestId) {
    limits.checkName("namespace", namespace);
    limits.checkOptionalName("display_name", update.displayName());
    if (update.description() != null) {
      limits.checkText("description", update.description());
    }
    checkRetention(update.retentionMs());
    return once(
        IdempotentCall.of(requestId, "UpdateNamespace", namespace),
        namespace,
        tx ->
            tx.query(UPDATE)
                .bind(update.displayName())
                .bind(update.description())
                .bind(update.clearFailureHandler())
                .bind(update.clearRetention())
                .bindLong(update.retentionMs())
                .bind(namespace)
                .first(Namespaces::view)
                .orElseThrow(() -> Refusal.notFound("namespace", namespace)));
  }

  /** The names that come after one, the first when it is null; only so many. */
  public List<String> names(@Nullable String after) {
    return database.read(
        session ->
            session
                .query(NAMES)
                .bind(after == null ? "" : after)
                .list(row -> row.text("namespace")));
  }

  /**
   * How long a namespace keeps its runs; 0 is for ever. {@code usualMs} is for one that is silent.
   */
  public static long retentionMs(Session session, String namespace, long usualMs)
      throws SQLException {
    Optional<Long> own =
        session
            .query(RETENTION)
            .bind(namespace)
            .first(row -> Objects.requireNonNullElse(row.bigintOrNull("retention_ms"), usualMs));
    return own.orElse(usualMs);
  }

  /** Failures in the namespace are handled, on this queue unless nearer; within a transaction. */
  public static void markFailureHandler(Session tx, String namespace, String queue)
      throws SQLException {
    tx.query(MARK_FAILURE_HANDLER).bind(queue).bind(namespace).bind(queue).update();
  }

  /** From now on it accepts starts and hands out work. Refused with NOT_FOUND. */
  public NamespaceView enable(String namespace) {
    return setEnabled(namespace, true, null);
  }

  /** From now on nothing starts in it and no work is handed out. Refused with NOT_FOUND. */
  public NamespaceView disable(String namespace) {
    return setEnabled(namespace, false, null);
  }

  /** Enables or disables it; a call with the same request id is executed once. */
  public NamespaceView setEnabled(String namespace, boolean enabled, @Nullable UUID requestId) {
    limits.checkName("namespace", namespace);
    NamespaceView changed =
        once(
            IdempotentCall.of(
                requestId, enabled ? "EnableNamespace" : "DisableNamespace", namespace),
            namespace,
            tx ->
                tx.query(SET_ENABLED)
                    .bind(enabled)
                    .bind(namespace)
                    .first(Namespaces::view)
                    .orElseThrow(() -> Refusal.notFound("namespace", namespace)));
    cache.put(namespace, changed.enabled());
    tellOthers.accept(namespace);
    return changed;
  }

  private record All(Session session) implements Pager.Source<NamespaceView> {
    @Override
    public List<Pager.Found<NamespaceView>> rows(
        @Nullable Cursor from, boolean forward, int rowsMax) throws SQLException {
      if (from == null) {
        return session.query(LIST_FIRST).bind(rowsMax).list(Namespaces::found);
      }
      return session
          .query(forward ? LIST_AFTER : LIST_BEFORE)
          .bind(from.text(0))
          .bind(rowsMax)
          .list(Namespaces::found);
    }

    @Override
    public boolean isAny(Cursor from, boolean forward) throws SQLException {
      return !rows(from, forward, 1).isEmpty();
    }

    @Override
    public long count() throws SQLException {
      return session.query(COUNT).first(row -> row.bigint("rows")).orElse(0L);
    }
  }

  private static Pager.Found<NamespaceView> found(Row row) throws SQLException {
    NamespaceView view = view(row);
    return new Pager.Found<>(view, Cursor.of(view.namespace()), true);
  }

  private static NamespaceView view(Row row) throws SQLException {
    return new NamespaceView(
        row.uuid("id"),
        row.text("namespace"),
        row.text("display_name"),
        row.text("description"),
        row.bool("enabled"),
        row.time("created_at"),
        row.time("updated_at"),
        Objects.requireNonNullElse(row.textOrNull("failure_handler_task_queue"), ""),
        row.bigintOrNull("retention_ms"));
  }
}
