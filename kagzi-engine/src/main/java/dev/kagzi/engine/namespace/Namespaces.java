package dev.kagzi.engine.namespace;

import dev.kagzi.engine.db.Database;
import dev.kagzi.engine.db.Row;
import dev.kagzi.engine.db.Session;
import dev.kagzi.engine.page.Cursor;
import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.page.Pager;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Creates, changes and lists namespaces, and knows which of them work. Thread-safe; blocks. */
public final class Namespaces {
  private static final String COLUMNS =
      "namespace, id, display_name, description, enabled, created_at, updated_at,"
          + " failure_handler_task_queue";

  private static final String INSERT =
      """
      INSERT INTO kagzi.namespaces (namespace, id, display_name, description)
      VALUES (?, ?, ?, ?)
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

  private static final String COUNT = "SELECT count(*) AS rows FROM kagzi.namespaces";

  private final Database database;
  private final Limits limits;
  private final boolean autoCreate;
  private final NamespaceCache cache;

  /**
   * Knows nothing yet.
   *
   * @param autoCreate a name that is not there is created when it is first used
   */
  public Namespaces(Database database, Limits limits, boolean autoCreate) {
    this(database, limits, autoCreate, System::nanoTime);
  }

  Namespaces(Database database, Limits limits, boolean autoCreate, LongSupplier nanoClock) {
    this.database = database;
    this.limits = limits;
    this.autoCreate = autoCreate;
    this.cache = new NamespaceCache(database, nanoClock);
  }

  /**
   * Whether the namespace works. Costs nothing for a name that was met before; an unknown one is
   * looked up, and created or refused with NOT_FOUND.
   */
  public NamespaceCheck check(String namespace) {
    NamespaceCheck known = cache.get(namespace);
    return known == null ? lookUp(namespace) : known;
  }

  /** True when {@link #check} answers from memory; otherwise it asks the database, and blocks. */
  public boolean isAtHand(String namespace) {
    return cache.isAtHand(namespace);
  }

  /** Refuses a namespace that is disabled or not there: nothing starts in it. */
  public void requireEnabled(String namespace) {
    if (!check(namespace).isEnabled()) {
      throw Refusal.of(
          Refusal.Reason.FAILED_PRECONDITION,
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
      database.write(session -> insert(session, namespace, "", ""));
    }
    return cache.putIfAbsent(namespace, get(namespace).enabled());
  }

  /** A new namespace, enabled. Refused with ALREADY_EXISTS. */
  public NamespaceView create(String namespace, String displayName, String description) {
    limits.checkName("namespace", namespace);
    limits.checkOptionalName("display_name", displayName);
    limits.checkText("description", description);
    List<NamespaceView> created =
        database.write(session -> insert(session, namespace, displayName, description));
    if (created.isEmpty()) {
      throw Refusal.of(
          Refusal.Reason.ALREADY_EXISTS,
          "namespace",
          namespace,
          "namespace: " + namespace + " (expected: a name that is not taken)");
    }
    cache.put(namespace, true);
    return created.get(0);
  }

  private static List<NamespaceView> insert(
      Session session, String namespace, String displayName, String description)
      throws SQLException {
    return session
        .query(INSERT)
        .bind(namespace)
        .bind(RunId.next().value())
        .bind(displayName)
        .bind(description)
        .list(Namespaces::view);
  }

  /** Refused with NOT_FOUND. */
  public NamespaceView get(String namespace) {
    limits.checkName("namespace", namespace);
    return database
        .read(session -> session.query(SELECT).bind(namespace).first(Namespaces::view))
        .orElseThrow(() -> Refusal.notFound("namespace", namespace));
  }

  /** All namespaces, by name. */
  public Page<NamespaceView> list(PageSpec page) {
    return database.read(session -> Pager.page(page, "namespaces", new All(session)));
  }

  /**
   * Changes what is not null. Refused with NOT_FOUND.
   *
   * @param clearFailureHandler forgets that a handler of all failures was registered
   */
  public NamespaceView update(
      String namespace,
      @Nullable String displayName,
      @Nullable String description,
      boolean clearFailureHandler) {
    limits.checkName("namespace", namespace);
    limits.checkOptionalName("display_name", displayName);
    if (description != null) {
      limits.checkText("description", description);
    }
    return database
        .write(
            session ->
                session
                    .query(UPDATE)
                    .bind(displayName)
                    .bind(description)
                    .bind(clearFailureHandler)
                    .bind(namespace)
                    .first(Namespaces::view))
        .orElseThrow(() -> Refusal.notFound("namespace", namespace));
  }

  /** Failures in the namespace are handled, on this queue unless nearer; within a transaction. */
  public static void markFailureHandler(Session tx, String namespace, String queue)
      throws SQLException {
    tx.query(MARK_FAILURE_HANDLER).bind(queue).bind(namespace).bind(queue).update();
  }

  /** From now on it accepts starts and hands out work. Refused with NOT_FOUND. */
  public NamespaceView enable(String namespace) {
    return setEnabled(namespace, true);
  }

  /** From now on nothing starts in it and no work is handed out. Refused with NOT_FOUND. */
  public NamespaceView disable(String namespace) {
    return setEnabled(namespace, false);
  }

  private NamespaceView setEnabled(String namespace, boolean enabled) {
    limits.checkName("namespace", namespace);
    NamespaceView changed =
        database
            .write(
                session ->
                    session
                        .query(SET_ENABLED)
                        .bind(enabled)
                        .bind(namespace)
                        .first(Namespaces::view))
            .orElseThrow(() -> Refusal.notFound("namespace", namespace));
    cache.put(namespace, changed.enabled());
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
        Objects.requireNonNullElse(row.textOrNull("failure_handler_task_queue"), ""));
  }
}
