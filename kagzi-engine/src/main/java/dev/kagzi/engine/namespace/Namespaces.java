package dev.kagzi.engine.namespace;

import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.db.Query;
import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.namespace.NamespaceCache;
import dev.kagzi.engine.internal.namespace.NamespaceListener;
import dev.kagzi.engine.internal.page.Cursor;
import dev.kagzi.engine.internal.page.Pager;
import dev.kagzi.engine.internal.request.IdempotentCall;
import dev.kagzi.engine.internal.request.IdempotentCalls;
import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Creates, changes and lists namespaces, and caches which are enabled. Thread-safe. Methods block
 * unless they say otherwise.
 */
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

  private static final String LIST = "SELECT " + COLUMNS + " FROM kagzi.namespaces";

  private static final String NAMES =
      "SELECT namespace FROM kagzi.namespaces WHERE namespace > ? ORDER BY namespace LIMIT 1000";

  private static final String COUNT = "SELECT count(*) AS rows FROM kagzi.namespaces";

  private static final long RETENTION_MS_MAX = 100L * 366 * 24 * 60 * 60 * 1000;

  private final Database database;
  private final Limits limits;
  private final boolean autoCreate;
  private final NamespaceCache cache;
  private final Consumer<String> publish;

  /**
   * Begins with an empty cache.
   *
   * @param autoCreate whether an unknown name is created at its first use
   * @param listener called when a cached namespace was enabled or disabled, by any server
   * @param publish called with each namespace that this server has enabled or disabled
   */
  public Namespaces(
      Database database,
      Limits limits,
      boolean autoCreate,
      NamespaceListener listener,
      Consumer<String> publish) {
    this(database, limits, autoCreate, listener, publish, System::nanoTime);
  }

  Namespaces(
      Database database,
      Limits limits,
      boolean autoCreate,
      NamespaceListener listener,
      Consumer<String> publish,
      LongSupplier nanoClock) {
    this.database = database;
    this.limits = limits;
    this.autoCreate = autoCreate;
    this.cache = new NamespaceCache(database, nanoClock, listener);
    this.publish = publish;
  }

  /**
   * Returns whether the namespace is enabled. Sends no query if {@link #isCached}. A namespace that
   * does not exist is created if {@code autoCreate} is set, else refused with NOT_FOUND.
   */
  public boolean check(String namespace) {
    Boolean known = cache.get(namespace);
    return known == null ? lookUp(namespace) : known;
  }

  /**
   * Returns false if the namespace is disabled in the cache, however old the entry is; true if it
   * is not cached. Does not block. {@link NamespaceListener} reports later changes.
   */
  public boolean mayDispatch(String namespace) {
    return !Boolean.FALSE.equals(cache.peek(namespace));
  }

  /** Refreshes the cache in the background, after a change on another server. Does not block. */
  public void refresh() {
    cache.refreshNow();
  }

  /** Returns, without blocking, whether {@link #check} answers from memory and does not block. */
  public boolean isCached(String namespace) {
    return cache.isCached(namespace);
  }

  /** Refuses a disabled namespace. Treats a missing one like {@link #check}. */
  public void requireEnabled(String namespace) {
    requireEnabled(namespace, () -> false);
  }

  /**
   * Like {@link #requireEnabled(String)}, but accepts a disabled namespace if {@code
   * acceptedBefore} returns true: a repeated call must get its first response.
   */
  public void requireEnabled(String namespace, BooleanSupplier acceptedBefore) {
    if (!check(namespace) && !acceptedBefore.getAsBoolean()) {
      throw Refusal.of(
          Refusal.Code.NAMESPACE_DISABLED,
          "namespace",
          Refusal.shorten(namespace),
          "namespace: "
              + Refusal.shorten(namespace)
              + " is disabled (expected: an enabled one; enable it to start runs in it)");
    }
  }

  private boolean lookUp(String namespace) {
    limits.checkName("namespace", namespace);
    if (autoCreate) {
      database.writeRepeatable(session -> insert(session, namespace, "", "", null));
    }
    return cache.putIfAbsent(namespace, get(namespace).enabled());
  }

  /**
   * Creates an enabled namespace. Refused with ALREADY_EXISTS if the name exists with other
   * content.
   *
   * @param requestId chosen by the caller, who can then safely repeat the call; null for none
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
                  ? findSame(tx, namespace, displayName, description, retentionMs)
                  : made.get(0);
            });
    cache.put(namespace, created.enabled());
    return created;
  }

  /** Accepts an existing namespace with the same content, as if the call had been sent again. */
  private static NamespaceView findSame(
      Session tx,
      String namespace,
      String displayName,
      String description,
      @Nullable Long retentionMs)
      throws SQLException {
    NamespaceView existing = find(tx, namespace);
    if (!existing.displayName().equals(displayName)
        || !existing.description().equals(description)
        || !Objects.equals(existing.retentionMs(), retentionMs)) {
      throw Refusal.of(
          Refusal.Reason.ALREADY_EXISTS,
          "namespace",
          namespace,
          "namespace: "
              + namespace
              + " exists with another display name, description or retention (expected: a name"
              + " that is not taken)");
    }
    return existing;
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

  /** Returns the namespace. Refused with NOT_FOUND if it does not exist. */
  public NamespaceView get(String namespace) {
    limits.checkName("namespace", namespace);
    return database.read(session -> find(session, namespace));
  }

  public Page<NamespaceView> list(PageSpec page) {
    return database.readForUser(session -> Pager.page(page, "namespaces", new All(session)));
  }

  /** Changes the fields that the update sets. Refused with NOT_FOUND if there is no namespace. */
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

  /** Returns at most 1000 names after the given one; from the first if it is null. */
  public List<String> names(@Nullable String after) {
    return database.read(
        session ->
            session
                .query(NAMES)
                .bind(after == null ? "" : after)
                .list(row -> row.text("namespace")));
  }

  /**
   * Enables or disables the namespace, refused with NOT_FOUND if it does not exist. A repeated call
   * with the same request id changes nothing and returns the namespace.
   */
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
    publish.accept(namespace);
    return changed;
  }

  private record All(Session session) implements Pager.Source<NamespaceView> {
    @Override
    public List<Pager.Found<NamespaceView>> rows(
        @Nullable Cursor from, boolean forward, int rowsMax) throws SQLException {
      String beyond = forward ? " WHERE namespace > ?" : " WHERE namespace < ?";
      String order = " ORDER BY namespace" + (forward ? "" : " DESC") + " LIMIT ?";
      Query query = session.query(LIST + (from == null ? "" : beyond) + order);
      if (from != null) {
        query.bind(from.text(0));
      }
      return query.bind(rowsMax).list(Namespaces::found);
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
        row.textOrEmpty("failure_handler_task_queue"),
        row.bigintOrNull("retention_ms"));
  }
}
