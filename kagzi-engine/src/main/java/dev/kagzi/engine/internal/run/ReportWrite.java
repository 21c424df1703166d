package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.run.Caller;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import org.jspecify.annotations.Nullable;

public final class ReportWrite extends ChangeRun<ReportResult> {
  private final String namespace;
  private final Report report;
  private final @Nullable Caller caller;

  /** A report of a worker that uses the task protocol; its claim identifies the sender. */
  public ReportWrite(String namespace, Report report) {
    this(namespace, report, null);
  }

  public ReportWrite(String namespace, Report report, @Nullable Caller caller) {
    super(report.claim().runId(), report.bytes());
    this.namespace = namespace;
    this.report = report;
    this.caller = caller;
  }

  @Override
  protected String call() {
    return report.getClass().getSimpleName();
  }

  public String namespace() {
    return namespace;
  }

  public Report report() {
    return report;
  }

  /** The simple client that sent the report; null for other workers. */
  public @Nullable Caller caller() {
    return caller;
  }

  /** Whether the worker can keep its claim during a short wait. A simple client cannot. */
  public boolean waitsInPlace() {
    return caller == null;
  }
}
