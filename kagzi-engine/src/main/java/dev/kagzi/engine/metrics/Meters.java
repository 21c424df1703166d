package dev.kagzi.engine.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.function.ToDoubleFunction;

/** All meters of one engine, in one registry. Thread-safe. */
public final class Meters {
  /** How many types, and how many queues, have labels of their own by default. */
  public static final int LABELS_MAX = 100;

  private final MeterRegistry registry;
  private final BoundedLabels queueLabels;
  private final RunMetrics runs;
  private final DispatchMetrics dispatch;
  private final Counter serverMessages;

  /**
   * Registers the meters of an engine.
   *
   * @param labelsMax how many types, and how many queues, have labels of their own
   */
  public Meters(MeterRegistry registry, int labelsMax) {
    this.registry = registry;
    this.queueLabels = new BoundedLabels("queue", labelsMax);
    this.runs = new RunMetrics(registry, new BoundedLabels("type", labelsMax));
    this.dispatch = new DispatchMetrics(registry, queueLabels);
    this.serverMessages =
        Counter.builder("kagzi.server.messages.received")
            .description("Messages that this server received from other servers")
            .register(registry);
  }

  /** Meters in a new registry that is not published; only {@link #registry} returns it. */
  public static Meters unpublished() {
    return new Meters(new SimpleMeterRegistry(), LABELS_MAX);
  }

  public MeterRegistry registry() {
    return registry;
  }

  public BoundedLabels queueLabels() {
    return queueLabels;
  }

  public RunMetrics runs() {
    return runs;
  }

  public DispatchMetrics dispatch() {
    return dispatch;
  }

  /** {@code name} distinguishes the journals of an engine. */
  public JournalMetrics journal(String name) {
    return new JournalMetrics(registry, name);
  }

  public LabelledGauge labelled(String name, String description) {
    return new LabelledGauge(registry, name, description);
  }

  public void serverMessageReceived() {
    serverMessages.increment();
  }

  public void bind(StatementMetrics statements) {
    FunctionCounter.builder("kagzi.db.statements", statements, StatementMetrics::statements)
        .description("Statements that this server sent to PostgreSQL")
        .register(registry);
    FunctionCounter.builder("kagzi.db.commits", statements, StatementMetrics::commits)
        .description("Transactions that this server committed")
        .register(registry);
  }

  /** Registers the gauges of a connection pool. The registry keeps no strong reference to it. */
  public <P> void bindPool(
      P pool, ToDoubleFunction<P> active, ToDoubleFunction<P> idle, ToDoubleFunction<P> waiting) {
    poolConnections(pool, "active", active);
    poolConnections(pool, "idle", idle);
    Gauge.builder("kagzi.db.pool.waiting", pool, waiting)
        .description("Threads that wait for a connection of the pool")
        .register(registry);
  }

  private <P> void poolConnections(P pool, String state, ToDoubleFunction<P> number) {
    Gauge.builder("kagzi.db.pool.connections", pool, number)
        .description("Connections of the pool for reading, by state")
        .tag("state", state)
        .register(registry);
  }
}
