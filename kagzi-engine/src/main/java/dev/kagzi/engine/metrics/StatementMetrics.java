package dev.kagzi.engine.metrics;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** Counts the statements that this server sends to PostgreSQL. Thread-safe. */
public final class StatementMetrics {
  private final LongAdder statements = new LongAdder();
  private final LongAdder commits = new LongAdder();
  private final Map<String, LongAdder> bySession = new ConcurrentHashMap<>();

  public void statement(String session) {
    statements.increment();
    bySession.computeIfAbsent(session, name -> new LongAdder()).increment();
  }

  public void commit() {
    commits.increment();
  }

  /** All statements so far, without those that control transactions and without DISCARD PLANS. */
  public long statements() {
    return statements.sum();
  }

  /** Committed transactions, plus all statements that were sent outside of a transaction. */
  public long commits() {
    return commits.sum();
  }

  public Map<String, Long> statementsBySession() {
    Map<String, Long> all = new TreeMap<>();
    bySession.forEach((name, count) -> all.put(name, count.sum()));
    return all;
  }
}
