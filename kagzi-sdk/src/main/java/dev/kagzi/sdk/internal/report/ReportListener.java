package dev.kagzi.sdk.internal.report;

import dev.kagzi.protocol.v1.ReportResult;

/** Receives the answer to one item. Must not block: threads of the channel call it. */
@FunctionalInterface
public interface ReportListener {
  void answered(ReportResult result);
}
