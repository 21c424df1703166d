package dev.kagzi.bench;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A measured system, started and connected. Used by one thread. */
interface Contender extends AutoCloseable {

  /** The name in the figures. */
  String name();

  /** Executes runs of a scenario and returns when each has its result. */
  Outcome run(Scenario scenario, Load load);

  /** The system's own counters. */
  Counters counters();

  /** The processes of the servers; none if the engine is in the application's process. */
  List<Long> serverPids();

  /** The process of the application, which starts runs and executes workflows. */
  long clientPid();

  /** The database of the system. */
  BenchDatabase database();

  @Override
  void close();

  /**
   * Counts since the start.
   *
   * @param statements sent to PostgreSQL; negative if they are not counted
   * @param requests sent by the application to the server; negative if there is no server
   * @param servers the counts of each server; empty if they are not counted for each server
   * @param spans null if the system does not trace
   */
  record Counters(
      long statements, long requests, List<ServerCounts> servers, @Nullable SpanCounts spans) {
    static final Counters NONE = new Counters(-1, -1, List.of());

    Counters(long statements, long requests, List<ServerCounts> servers) {
      this(statements, requests, servers, null);
    }
  }
}
