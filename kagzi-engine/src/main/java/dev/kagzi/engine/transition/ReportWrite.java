package dev.kagzi.engine.transition;

import dev.kagzi.engine.run.RunWrite;
import org.jspecify.annotations.Nullable;

/** A report on its way to the database. */
public final class ReportWrite extends RunWrite<ReportResult> {
  private final String namespace;
  private final Report report;
  private final @Nullable Caller caller;

  /** A report whose claim alone says who sent it. */
  public ReportWrite(String namespace, Report report) {
    this(namespace, report, null);
  }

  /** A report of a simple client. */
  ReportWrite(String namespace, Report report, @Nullable Caller caller) {
    super(report.claim().runId(), report.bytes());
    this.namespace = namespace;
    this.report = report;
    this.caller = caller;
  }

  @Override
  protected String call() {
    return report.getClass().getSimpleName();
  }

  String namespace() {
    return namespace;
  }

  Report report() {
    return report;
  }

  /** The simple client that sent it; null for others. */
  @Nullable Caller caller() {
    return caller;
  }

  /**
   * Short waits are waited for in place by workers that can; a simple client gives its run back
   * whatever the wait.
   */
  boolean waitsInPlace() {
    return caller == null;
  }
}
