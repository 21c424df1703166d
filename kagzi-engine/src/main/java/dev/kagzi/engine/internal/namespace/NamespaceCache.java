package dev.kagzi.engine.internal.namespace;

import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.value.Refusal;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Caches which namespaces are enabled.
 *
 * <p>A lookup reads a map and the clock. When the cache is one second old, a lookup starts a
 * refresh in the background, and no caller waits. When it is two seconds old, because there was no
 * lookup for a while, callers wait for the refresh. Thread-safe.
 */
public final class NamespaceCache {
  private static final String STATES =
      "SELECT namespace, enabled FROM kagzi.namespaces WHERE namespace = ANY (?)";

  private static final long REFRESH_NS = 1_000_000_000L;
  private static final long WAIT_NS = 2_000_000_000L;

  /** Less than {@link #WAIT_NS}, so that a lookup after {@link #isCached} does not wait. */
  private static final long CACHED_NS = 1_500_000_000L;

  private final Database database;
  private final LongSupplier nanoClock;
  private final NamespaceListener listener;
  private final Map<String, Boolean> known = new ConcurrentHashMap<>();
  private final AtomicBoolean refreshing = new AtomicBoolean();
  // Held by put and during a whole refresh: a refresh must not overwrite a change that came after
  // its query.
  private final ReentrantLock changing = new ReentrantLock();
  private volatile long refreshedNs;

  public NamespaceCache(Database database, LongSupplier nanoClock, NamespaceListener listener) {
    this.database = database;
    this.nanoClock = nanoClock;
    this.listener = listener;
    this.refreshedNs = nanoClock.getAsLong();
  }

  /** Returns whether the namespace is enabled; null for a name that is not cached. */
  public @Nullable Boolean get(String namespace) {
    long ageNs = nanoClock.getAsLong() - refreshedNs;
    if (ageNs >= WAIT_NS) {
      refreshIfOld();
    } else if (ageNs >= REFRESH_NS && refreshing.compareAndSet(false, true)) {
      Thread.ofVirtual().name("kagzi-namespaces").start(this::refreshInBackground);
    }
    return known.get(namespace);
  }

  /** Returns whether {@link #get} answers from memory, without waiting. */
  public boolean isCached(String namespace) {
    return nanoClock.getAsLong() - refreshedNs < CACHED_NS && known.containsKey(namespace);
  }

  /** Returns the cached value of any age; null for a name that is not cached. */
  public @Nullable Boolean peek(String namespace) {
    return known.get(namespace);
  }

  public void put(String namespace, boolean enabled) {
    changing.lock();
    try {
      update(namespace, enabled);
    } finally {
      changing.unlock();
    }
  }

  public void refreshNow() {
    Thread.ofVirtual()
        .name("kagzi-namespaces")
        .start(
            () -> {
              changing.lock();
              try {
                refresh();
              } finally {
                changing.unlock();
              }
            });
  }

  private void update(String namespace, boolean enabled) {
    Boolean before = known.put(namespace, enabled);
    if (before != null && before != enabled) {
      listener.changed(namespace, enabled);
    }
  }

  /**
   * Caches a state that was read from the database, unless the name is cached already: that entry
   * is newer than the read. Returns the state that is cached now.
   */
  public boolean putIfAbsent(String namespace, boolean enabled) {
    Boolean present = known.putIfAbsent(namespace, enabled);
    return present == null ? enabled : present;
  }

  private void refreshInBackground() {
    try {
      refreshIfOld();
    } finally {
      refreshing.set(false);
    }
  }

  private void refreshIfOld() {
    changing.lock();
    try {
      if (nanoClock.getAsLong() - refreshedNs >= REFRESH_NS) {
        refresh();
      }
    } finally {
      changing.unlock();
    }
  }

  private void refresh() {
    Map<String, Boolean> states = new HashMap<>();
    List<String> names = List.copyOf(known.keySet());
    try {
      if (!names.isEmpty()) {
        read(names, states);
        // Only the queried names: an entry that was added since is newer than the query.
        names.stream().filter(name -> !states.containsKey(name)).forEach(known::remove);
        states.forEach(this::update);
      }
    } catch (Refusal databaseUnavailable) {
      // Keep the old entries: without the database nothing starts and nothing is dispatched.
    }
    refreshedNs = nanoClock.getAsLong();
  }

  private void read(List<String> names, Map<String, Boolean> into) {
    database.read(
        session ->
            session
                .query(STATES)
                .bindTextArray(names)
                .list(row -> into.put(row.text("namespace"), row.bool("enabled"))));
  }
}
