package dev.kagzi.sdk.internal.report;

import dev.kagzi.protocol.v1.ReportItem;
import java.util.List;

/** The reports of one claim, sent in the order of the calls. Thread-safe. */
public interface ReportLane {
  String runId();

  ReportItem.Builder item();

  default void send(ReportItem message, ReportListener listener) {
    sendAll(List.of(message), List.of(listener));
  }

  /** Sends all items in this order, each with its listener, in one call if they fit. */
  void sendAll(List<ReportItem> messages, List<ReportListener> listeners);
}
