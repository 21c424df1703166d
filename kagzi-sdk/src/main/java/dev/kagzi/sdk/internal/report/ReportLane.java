package dev.kagzi.sdk.internal.report;

import dev.kagzi.protocol.v1.ReportItem;
import java.util.List;

/** The reports of one claim, sent in the order in which they were given. Thread-safe. */
public interface ReportLane {
  String runId();

  /** Creates an item of this claim, to be filled. */
  ReportItem.Builder item();

  default void send(ReportItem message, ReportListener listener) {
    sendAll(List.of(message), List.of(listener));
  }

  /** Sends all items in this order, each with its listener, in one call if they fit. */
  void sendAll(List<ReportItem> messages, List<ReportListener> listeners);
}
