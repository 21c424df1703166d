package dev.kagzi.sdk.internal.wire;

import dev.kagzi.sdk.internal.log.EventLog;
import io.grpc.stub.StreamObserver;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Sends items in batches. An item is sent at once, on the caller's thread, unless two calls or its
 * lane are in flight, or sending pauses. Items that arrive meanwhile share the next call. There is
 * no timer, except for the pause after a failed call. Thread-safe.
 *
 * @param <T> the items
 * @param <A> the response to a call
 * @param <R> the result of one item
 */
public abstract class BatchSender<T extends BatchSender.Item<T>, A, R> {
  private static final EventLog log = EventLog.of(BatchSender.class);
  private static final int CALLS_MAX = 2;
  private static final int CALL_BYTES_MAX = 3 << 20;

  protected final Connection connection;
  private final String what;
  private final int callItemsMax;
  private final Backoff backoff;
  private final ReentrantLock lock = new ReentrantLock();
  private final ArrayDeque<Lane<T>> readyLanes = new ArrayDeque<>();
  private int callsInFlight;
  private boolean paused;

  /** Number of items that must be sent alone, because a call that contained them was refused. */
  private int sendAloneLeft;

  /** Why items of the latest call are sent again; null if none of them are. */
  private volatile @Nullable Throwable lastError;

  /** The error of items that were not sent when the sender was closed; null while it is open. */
  private @Nullable Throwable closeError;

  protected BatchSender(Connection connection, String what, int callItemsMax, Backoff backoff) {
    this.connection = connection;
    this.what = what;
    this.callItemsMax = callItemsMax;
    this.backoff = backoff;
  }

  /**
   * Items that are sent in order: each one goes behind the previous one in the same call, or in a
   * later call after the previous one was answered. Guarded by the sender's lock.
   */
  public static final class Lane<T> {
    private final ArrayDeque<T> items = new ArrayDeque<>(2);
    private boolean inFlight;
    private boolean ready;
  }

  public abstract static class Item<T> {
    final Lane<T> lane;
    final int bytes;

    protected Item(Lane<T> lane, int bytes) {
      this.lane = lane;
      this.bytes = bytes;
    }

    /** Returns whether no caller waits for the item any more, so that it need not be sent again. */
    protected boolean isDone() {
      return false;
    }
  }

  /** What to do with the items of a failed call. */
  protected enum Retry {
    NO,
    YES,
    /** Each item in a call of its own, to find the one that makes the call fail. */
    ALONE
  }

  protected abstract void call(List<T> batch, StreamObserver<A> answer);

  /** Returns the results in the order of the items. */
  protected abstract List<R> results(A response);

  /** Returns the error of an item that must be sent again, or null. */
  protected @Nullable Throwable temporaryRefusal(R result) {
    return null;
  }

  /** Called on a gRPC thread with the final result of an item. */
  protected abstract void answered(T item, R result);

  protected abstract Retry afterFailure(List<T> batch, Throwable error);

  /** Called if an item is not sent, or not sent again. */
  protected abstract void failed(T item, Throwable error);

  /** Sends the items, which are all of this lane, in this order. */
  protected final void send(Lane<T> lane, List<T> items) {
    lock.lock();
    try {
      if (closeError != null) {
        throw new IllegalStateException("client: closed (expected: open)");
      }
      lane.items.addAll(items);
      markReady(lane);
    } finally {
      lock.unlock();
    }
    sendReady();
  }

  /** Fails all items that were not sent. Calls in flight are not retried. */
  protected final void close(Throwable error) {
    List<T> left;
    lock.lock();
    try {
      closeError = error;
      left = takeAll();
    } finally {
      lock.unlock();
    }
    left.forEach(item -> failed(item, error));
  }

  protected final void removeDone() {
    lock.lock();
    try {
      for (Lane<T> lane : readyLanes) {
        lane.items.removeIf(Item::isDone);
        lane.ready = !lane.items.isEmpty();
      }
      readyLanes.removeIf(lane -> !lane.ready);
    } finally {
      lock.unlock();
    }
  }

  protected final @Nullable Throwable lastError() {
    return lastError;
  }

  // gRPC reports a message over the size limit with the status code of an overloaded server, so the
  // item's size is checked too.
  protected final boolean isTooLarge(List<T> batch, Throwable error) {
    return batch.size() == 1
        && batch.getFirst().bytes > CALL_BYTES_MAX
        && RpcErrors.isTooLarge(error);
  }

  private void markReady(Lane<T> lane) {
    if (!lane.ready && !lane.inFlight && !lane.items.isEmpty()) {
      lane.ready = true;
      readyLanes.add(lane);
    }
  }

  private List<T> takeAll() {
    List<T> all = new ArrayList<>();
    for (Lane<T> lane : readyLanes) {
      all.addAll(lane.items);
      lane.items.clear();
      lane.ready = false;
    }
    readyLanes.clear();
    return all;
  }

  private void sendReady() {
    for (List<T> batch = nextBatch(); !batch.isEmpty(); batch = nextBatch()) {
      Call call = new Call(batch);
      call.sender = Thread.currentThread();
      try {
        call(batch, call);
      } catch (RuntimeException e) {
        // Otherwise its items would be in flight for ever.
        call.onError(e);
      }
      call.sender = null;
    }
  }

  /** Returns the items of the next call; none if no call may or need be made now. */
  private List<T> nextBatch() {
    List<T> batch = new ArrayList<>();
    lock.lock();
    try {
      if (paused || callsInFlight == CALLS_MAX || readyLanes.isEmpty()) {
        return batch;
      }
      callsInFlight++;
      int itemsLeft = sendAloneLeft > 0 ? 1 : callItemsMax;
      long bytesLeft = CALL_BYTES_MAX;
      while (!readyLanes.isEmpty() && fits(readyLanes.getFirst(), batch, itemsLeft, bytesLeft)) {
        Lane<T> lane = readyLanes.removeFirst();
        lane.ready = false;
        lane.inFlight = true;
        // Items that do not fit stay in their lane, which is ready again when this call has ended.
        while (!lane.items.isEmpty() && fits(lane, batch, itemsLeft, bytesLeft)) {
          T item = lane.items.removeFirst();
          batch.add(item);
          itemsLeft--;
          bytesLeft -= item.bytes;
        }
      }
      return batch;
    } finally {
      lock.unlock();
    }
  }

  private boolean fits(Lane<T> lane, List<T> batch, int itemsLeft, long bytesLeft) {
    return batch.isEmpty() || (itemsLeft > 0 && lane.items.getFirst().bytes <= bytesLeft);
  }

  private final class Call implements StreamObserver<A> {
    private final List<T> batch;
    private @Nullable A response;

    /** The thread that is sending the call. Other threads only see that it is not themselves. */
    private @Nullable Thread sender;

    Call(List<T> batch) {
      this.batch = batch;
    }

    @Override
    public void onNext(A response) {
      this.response = response;
    }

    @Override
    public void onError(Throwable error) {
      Retry retry = afterFailure(batch, error);
      if (retry == Retry.NO) {
        ended(batch, List.of(), retry, null);
        sendNext();
        batch.forEach(item -> failed(item, error));
      } else {
        ended(batch, batch, retry, error);
        sendNext();
      }
    }

    // A call can end while it is being sent, for example on a channel that is closed. Then the loop
    // that sends it continues; sending from here would nest all further calls.
    private void sendNext() {
      if (!Thread.currentThread().equals(sender)) {
        sendReady();
      }
    }

    @Override
    public void onCompleted() {
      A answer = response;
      List<R> results = answer == null ? List.of() : results(answer);
      if (results.size() != batch.size()) {
        onError(
            new IllegalStateException(
                "%s: %d results of %d items (expected: one result per item)"
                    .formatted(what, results.size(), batch.size())));
        return;
      }
      List<T> again = new ArrayList<>();
      List<T> answered = new ArrayList<>();
      List<R> finalResults = new ArrayList<>();
      Throwable refusal = null;
      for (int i = 0; i < results.size(); i++) {
        Throwable refused = temporaryRefusal(results.get(i));
        if (refused == null) {
          answered.add(batch.get(i));
          finalResults.add(results.get(i));
        } else {
          again.add(batch.get(i));
          refusal = refused;
        }
      }
      ended(batch, again, Retry.YES, refusal);
      // Before the results are handled, so that the server is not idle.
      sendNext();
      for (int i = 0; i < answered.size(); i++) {
        answered(answered.get(i), finalResults.get(i));
      }
    }
  }

  private void ended(List<T> batch, List<T> again, Retry retry, @Nullable Throwable reason) {
    List<T> left = List.of();
    Throwable closed;
    lock.lock();
    try {
      callsInFlight--;
      lastError = reason;
      // If the server processed nothing of the batch, the back-off must keep growing.
      if (again.size() < batch.size()) {
        backoff.reset();
        sendAloneLeft = Math.max(0, sendAloneLeft - (batch.size() - again.size()));
      }
      if (retry == Retry.ALONE) {
        sendAloneLeft = Math.max(sendAloneLeft, batch.size());
      }
      release(batch, again);
      closed = closeError;
      if (closed != null) {
        left = takeAll();
      } else if (reason != null) {
        pause(reason);
      }
    } finally {
      lock.unlock();
    }
    if (closed != null) {
      Throwable error = reason == null ? closed : reason;
      left.forEach(item -> failed(item, error));
    }
  }

  /** Makes the lanes of a call that has ended ready, first of all those with items to retry. */
  private void release(List<T> batch, List<T> again) {
    for (T item : again.reversed()) {
      if (!item.isDone()) {
        item.lane.items.addFirst(item);
        if (!item.lane.ready) {
          item.lane.ready = true;
          readyLanes.addFirst(item.lane);
        }
      }
    }
    for (T item : batch) {
      item.lane.inFlight = false;
      markReady(item.lane);
    }
  }

  private void pause(Throwable reason) {
    if (paused) {
      return;
    }
    paused = true;
    long pauseMs = backoff.nextMs();
    log.debug(what + " not answered, it will be sent again")
        .with("pause_ms", pauseMs)
        .with("error", reason.getMessage())
        .cause(reason)
        .write();
    connection.after(pauseMs, this::resume);
  }

  private void resume() {
    lock.lock();
    try {
      paused = false;
    } finally {
      lock.unlock();
    }
    sendReady();
  }
}
