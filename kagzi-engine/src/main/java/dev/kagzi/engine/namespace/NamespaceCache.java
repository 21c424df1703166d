package dev.kagzi.engine.namespace;

import dev.kagzi.engine.db.Database;
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
 * What this server knows of the namespaces that it was asked about.
 *
 * <p>A look costs a read of a map and of the clock. When the knowledge is a second old, one caller
 * has it renewed in the background and nobody waits; when it is older than that, since nobody had
 * asked for a while, callers wait for the renewal. Thread-safe.
 */
final class NamespaceCache {
  private static final String STATES =
      "SELECT namespace, enabled FROM kagzi.namespaces WHERE namespace = ANY (?)";

  private static final long RENEW_NS = 1_000_000_000L;
  private static final long WAIT_NS = 2_000_000_000L;

  private final Database database;
  private final LongSupplier nanoClock;
  private final NamespaceListener listener;
  private final Map<String, NamespaceCheck> known = new ConcurrentHashMap<>();
  private final AtomicBoolean renewing = new AtomicBoolean();
  // Held while the map changes: a renewal must not overwrite a change that came after its look.
  private final ReentrantLock changing = new ReentrantLock();
  private volatile long renewedNs;

  NamespaceCache(Database database, LongSupplier nanoClock, NamespaceListener listener) {
    this.database = database;
    this.nanoClock = nanoClock;
    this.listener = listener;
    this.renewedNs = nanoClock.getAsLong();
  }

  /** Null for a name that was not met before. */
  @Nullable NamespaceCheck get(String namespace) {
    long ageNs = nanoClock.getAsLong() - renewedNs;
    if (ageNs >= WAIT_NS) {
      renewIfOld();
    } else if (ageNs >= RENEW_NS && renewing.compareAndSet(false, true)) {
      Thread.ofVirtual().name("kagzi-namespaces").start(this::renewAside);
    }
    return known.get(namespace);
  }

  /** True when {@link #get} answers from memory, without waiting. */
  boolean isAtHand(String namespace) {
    return nanoClock.getAsLong() - renewedNs < WAIT_NS && known.containsKey(namespace);
  }

  /** What is known, however old it is; null for a name that was not met before. */
  @Nullable NamespaceCheck peek(String namespace) {
    return known.get(namespace);
  }

  /** What somebody changed or created here, after it is durable. */
  void put(String namespace, boolean enabled) {
    changing.lock();
    try {
      learn(namespace, NamespaceCheck.of(enabled));
    } finally {
      changing.unlock();
    }
  }

  /** Reads all that is known anew, in the background. */
  void renewNow() {
    Thread.ofVirtual()
        .name("kagzi-namespaces")
        .start(
            () -> {
              changing.lock();
              try {
                renew();
              } finally {
                changing.unlock();
              }
            });
  }

  private void learn(String namespace, NamespaceCheck check) {
    NamespaceCheck before = known.put(namespace, check);
    if (before != null && before != check) {
      listener.changed(namespace, check.isEnabled());
    }
  }

  /** What was read for a name that was not known. A change that came in between is newer. */
  NamespaceCheck putIfAbsent(String namespace, boolean enabled) {
    NamespaceCheck read = NamespaceCheck.of(enabled);
    NamespaceCheck present = known.putIfAbsent(namespace, read);
    return present == null ? read : present;
  }

  private void renewAside() {
    try {
      renewIfOld();
    } finally {
      renewing.set(false);
    }
  }

  private void renewIfOld() {
    changing.lock();
    try {
      if (nanoClock.getAsLong() - renewedNs >= RENEW_NS) {
        renew();
      }
    } finally {
      changing.unlock();
    }
  }

  private void renew() {
    Map<String, NamespaceCheck> states = new HashMap<>();
    List<String> names = List.copyOf(known.keySet());
    try {
      if (!names.isEmpty()) {
        read(names, states);
        // Only what was asked about: a name that came meanwhile is newer than this look.
        names.stream().filter(name -> !states.containsKey(name)).forEach(known::remove);
        states.forEach(this::learn);
      }
    } catch (Refusal databaseAway) {
      // What was known stays: without the database nothing is started and nothing handed out.
    }
    renewedNs = nanoClock.getAsLong();
  }

  private void read(List<String> names, Map<String, NamespaceCheck> into) {
    database.read(
        session ->
            session
                .query(STATES)
                .bindTextArray(names)
                .list(
                    row ->
                        into.put(row.text("namespace"), NamespaceCheck.of(row.bool("enabled")))));
  }
}
