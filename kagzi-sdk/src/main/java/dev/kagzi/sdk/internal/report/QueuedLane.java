package dev.kagzi.sdk.internal.report;

import dev.kagzi.protocol.v1.ReportItem;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/** A lane whose items wait for the reporter's next call. Guarded by the reporter's lock. */
final class QueuedLane implements ReportLane {
  private final Reporter reporter;
  private final String runId;
  private final int epoch;
  final ArrayDeque<Item> items = new ArrayDeque<>(2);

  /** Whether items of this lane are in a call that is not answered yet. */
  boolean inFlight;

  /** Whether the lane is in the reporter's queue of lanes with items to send. */
  boolean ready;

  QueuedLane(Reporter reporter, String runId, int epoch) {
    this.reporter = reporter;
    this.runId = runId;
    this.epoch = epoch;
  }

  /** One report item and the listener for its answer. */
  static final class Item {
    final QueuedLane lane;
    final ReportItem message;
    final int bytes;
    final ReportListener listener;

    /** How often a call with only this item was refused as a whole. */
    int refusals;

    Item(QueuedLane lane, ReportItem message, ReportListener listener) {
      this.lane = lane;
      this.message = message;
      this.bytes = message.getSerializedSize();
      this.listener = listener;
    }
  }

  @Override
  public String runId() {
    return runId;
  }

  @Override
  public ReportItem.Builder item() {
    return ReportItem.newBuilder().setRunId(runId).setEpoch(epoch);
  }

  @Override
  public void sendAll(List<ReportItem> messages, List<ReportListener> listeners) {
    List<Item> all = new ArrayList<>(messages.size());
    for (int i = 0; i < messages.size(); i++) {
      all.add(new Item(this, messages.get(i), listeners.get(i)));
    }
    reporter.send(this, all);
  }
}
