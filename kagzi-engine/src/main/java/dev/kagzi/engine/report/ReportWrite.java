package dev.kagzi.engine.report;

import dev.kagzi.engine.run.RunWrite;

/** A report on its way to the database. */
public final class ReportWrite extends RunWrite<ReportResult> {
  private final String namespace;
  private final Report report;
  private final boolean waitsInPlace;

  /**
   * Short waits are waited for in place by workers that can; a simple client gives its run back
   * whatever the wait.
   */
  public ReportWrite(String namespace, Report report, boolean waitsInPlace) {
    super(report.claim().runId(), report.bytes());
    this.namespace = namespace;
    this.report = report;
    this.waitsInPlace = waitsInPlace;
  }

  String namespace() {
    return namespace;
  }

  Report report() {
    return report;
  }

  boolean waitsInPlace() {
    return waitsInPlace;
  }
}
