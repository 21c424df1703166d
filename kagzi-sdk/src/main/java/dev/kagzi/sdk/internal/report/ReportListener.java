package dev.kagzi.sdk.internal.report;

import dev.kagzi.protocol.v1.ReportResult;

/** Receives the answer to one item, on a thread of the channel: it must not block. */
@FunctionalInterface
public interface ReportListener {
  void answered(ReportResult result);
}
