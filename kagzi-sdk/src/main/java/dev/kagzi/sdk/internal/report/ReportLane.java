package dev.kagzi.sdk.internal.report;

import dev.kagzi.protocol.v1.ReportItem;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * The reports of one claim, which leave in the order in which they were given. Thread-safe: the
 * reporter's lock guards it.
 */
public final class ReportLane {
  private final Reporter reporter;
  private final String runId;
  private final int epoch;
  final ArrayDeque<Item> items = new ArrayDeque<>(2);

  /** In a call that is not answered yet. */
  boolean underWay;

  /** In the reporter's list of lanes that have something to send. */
  boolean ready;

  ReportLane(Reporter reporter, String runId, int epoch) {
    this.reporter = reporter;
    this.runId = runId;
    this.epoch = epoch;
  }

  /** One thing to say, and who hears the answer. */
  static final class Item {
    final ReportLane lane;
    final ReportItem message;
    final int bytes;
    final ReportListener listener;

    /** How often a call with this item alone was refused as a whole. */
    int refusals;

    Item(ReportLane lane, ReportItem message, ReportListener listener) {
      this.lane = lane;
      this.message = message;
      this.bytes = message.getSerializedSize();
      this.listener = listener;
    }
  }

  public String runId() {
    return runId;
  }

  /** An item of this claim, to be filled. */
  public ReportItem.Builder item() {
    return ReportItem.newBuilder().setRunId(runId).setEpoch(epoch);
  }

  public void send(ReportItem message, ReportListener listener) {
    reporter.send(this, List.of(new Item(this, message, listener)));
  }

  /** Sends both in one call, in this order. */
  public void send(
      ReportItem first,
      ReportListener firstListener,
      ReportItem second,
      ReportListener secondListener) {
    reporter.send(
        this,
        List.of(new Item(this, first, firstListener), new Item(this, second, secondListener)));
  }

  /** Sends all in this order, each with its listener, and in one call if they fit. */
  public void sendAll(List<ReportItem> messages, List<ReportListener> listeners) {
    List<Item> all = new ArrayList<>(messages.size());
    for (int i = 0; i < messages.size(); i++) {
      all.add(new Item(this, messages.get(i), listeners.get(i)));
    }
    reporter.send(this, all);
  }
}
