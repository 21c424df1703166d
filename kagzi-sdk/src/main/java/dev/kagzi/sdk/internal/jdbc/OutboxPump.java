package dev.kagzi.sdk.internal.jdbc;

import dev.kagzi.sdk.internal.log.EventLog;
import dev.kagzi.sdk.jdbc.OutboxRelay;
import dev.kagzi.sdk.jdbc.RelayProblem;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Sends rows of an outbox on its own threads. A row is locked while it is sent and deleted in the
 * same transaction, after the server has answered. If the process stops in between, the row is sent
 * again; the server recognizes the repeated message by its ids.
 *
 * <p>One thread polls. While there is more than a batch to send, a second thread sends batches too,
 * as another relay would: one thread waits for the server while the other one uses the database.
 */
public final class OutboxPump implements OutboxRelay {
  private static final EventLog log = EventLog.of(OutboxPump.class);
  private static final int BATCH_MAX = 1_000;

  private static final long FAILED_MS = 1_000;
  private static final long COUNT_NANOS = TimeUnit.MINUTES.toNanos(1);
  private static final long COUNT_AGAIN_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final Duration CLOSE_MAX = Duration.ofSeconds(15);

  private final DataSourceTransactions transactions;
  private final String namespace;
  private final long intervalMs;
  private final OutboxSender sender;
  private final Semaphore stop = new Semaphore(0);

  /** Gets a permit when a batch was full, or when this is closed. */
  private final Semaphore backlog = new Semaphore(0);

  private final AtomicLong sent = new AtomicLong();
  private final RelayProblems problems;
  private final OutboxRetries retries = new OutboxRetries(System::nanoTime);
  private final Thread poller;
  private final Thread helper;
  private volatile boolean closed;

  /** When the poller counts the refused rows again. */
  private volatile long countNanos = System.nanoTime();

  /**
   * Starts the threads of the relay.
   *
   * @param interval between two polls if there is nothing to send
   */
  public OutboxPump(
      DataSource dataSource, String namespace, Duration interval, OutboxSender sender) {
    this.transactions = new DataSourceTransactions(dataSource);
    this.namespace = namespace;
    this.intervalMs = interval.toMillis();
    this.sender = sender;
    this.problems = new RelayProblems(namespace, System::nanoTime);
    this.poller = Thread.ofPlatform().daemon().name("kagzi-outbox").start(this::poll);
    this.helper = Thread.ofPlatform().daemon().name("kagzi-outbox-2").start(this::help);
  }

  @Override
  public long sent() {
    return sent.get();
  }

  @Override
  public List<RelayProblem> problems() {
    return problems.list();
  }

  public boolean isClosed() {
    return closed;
  }

  private void poll() {
    try {
      Batch batch = Batch.NONE;
      do {
        batch = pumpQuietly(batch.next, true);
        if (batch.isFull()) {
          backlog.release();
        }
      } while (!stop.tryAcquire(pauseMs(batch), TimeUnit.MILLISECONDS));
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    }
  }

  private void help() {
    try {
      Batch batch = Batch.NONE;
      while (true) {
        backlog.acquire();
        backlog.drainPermits();
        if (closed) {
          return;
        }
        batch = pumpQuietly(batch.next, false);
      }
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * What one transaction did.
   *
   * @param next the next batch begins behind this id, so that rows that wait for their next try do
   *     not delay the others; 0 if this batch contained the last row
   * @param isFailed whether the database or the server did not answer
   * @param tookMs how long it took
   */
  private record Batch(long next, int sent, boolean isFailed, long tookMs) {
    static final Batch NONE = new Batch(0, 0, false, 0);
    static final Batch FAILED = new Batch(0, 0, true, 0);

    boolean isFull() {
      return next > 0;
    }
  }

  private long pauseMs(Batch batch) {
    if (batch.isFailed) {
      return Math.max(intervalMs, FAILED_MS);
    }
    // After a row was sent, the next row of its key can be sent at once. If nothing was sent, the
    // query may have read many rows that wait behind a refused one, so the pause is at least as
    // long as the batch took.
    return batch.sent > 0 || batch.isFull() ? 0 : Math.max(intervalMs, batch.tookMs);
  }

  private Batch pumpQuietly(long after, boolean isPoller) throws InterruptedException {
    long beginNanos = System.nanoTime();
    try {
      Result result =
          transactions.inTransaction(
              connection -> {
                if (isPoller) {
                  countRefused(connection);
                }
                return pump(connection, after);
              });
      // Only now are the changes of the rows committed.
      return ended(result, after, beginNanos);
    } catch (InterruptedException e) {
      throw e;
    } catch (Throwable e) {
      // Catches Errors too: if the thread ended, the relay would stop without a report.
      problems.failed(RelayProblem.Kind.OUTBOX_UNREADABLE, e);
      return Batch.FAILED;
    }
  }

  /**
   * @param next as in {@link Batch}
   */
  private record Result(OutboxBatch batch, boolean isEmpty, long next) {}

  private Result pump(Connection connection, long after) throws SQLException, InterruptedException {
    OutboxRows.Page page = OutboxRows.lock(connection, namespace, after, BATCH_MAX);
    OutboxBatch batch = new OutboxBatch(connection, namespace, sender);
    long next = 0;
    for (OutboxRows.Locked row : page.rows()) {
      if (batch.isFull()) {
        return finished(batch, page, next);
      }
      next = row.id();
      if (retries.isDue(row.id())) {
        batch.add(row);
      }
    }
    return finished(batch, page, page.isLast() ? 0 : next);
  }

  private static Result finished(OutboxBatch batch, OutboxRows.Page page, long next)
      throws SQLException, InterruptedException {
    batch.finish();
    return new Result(batch, page.rows().isEmpty(), next);
  }

  private Batch ended(Result result, long after, long beginNanos) {
    OutboxBatch batch = result.batch;
    Throwable unavailable = batch.unavailable();
    batch.sent().forEach(retries::ended);
    for (OutboxBatch.Failed each : batch.refused()) {
      retries.ended(each.id());
      log.warn("a message of the outbox was refused, later ones of its key wait")
          .with("namespace", namespace)
          .with("id", each.id())
          .cause(each.failure())
          .write();
    }
    if (!batch.refused().isEmpty()) {
      countNanos = System.nanoTime();
    }
    if (unavailable == null) {
      batch.failed().forEach(each -> retries.failed(each.id(), each.failure()));
    }
    sent.addAndGet(batch.sent().size());
    report(result, after, unavailable);
    long tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beginNanos);
    return new Batch(result.next, batch.sent().size(), unavailable != null, tookMs);
  }

  private void report(Result result, long after, @Nullable Throwable unavailable) {
    problems.over(RelayProblem.Kind.OUTBOX_UNREADABLE);
    problems.set(RelayProblem.Kind.MESSAGES_WAITING, retries.count(), retries.lastReason());
    OutboxBatch batch = result.batch;
    if (unavailable != null) {
      problems.failed(RelayProblem.Kind.SERVER_UNAVAILABLE, unavailable);
    } else if (batch.isAnswered() || !batch.failed().isEmpty() || (result.isEmpty && after == 0)) {
      problems.over(RelayProblem.Kind.SERVER_UNAVAILABLE);
    }
  }

  /** Counts the refused rows, including those that were refused before this relay was started. */
  private void countRefused(Connection connection) throws SQLException {
    long now = System.nanoTime();
    if (now - countNanos >= 0) {
      OutboxRows.RefusedCount refused = OutboxRows.countRefused(connection, namespace);
      problems.set(
          RelayProblem.Kind.MESSAGES_REFUSED,
          refused.count(),
          "the first one has the id " + refused.firstId());
      countNanos = now + (refused.count() > 0 ? COUNT_AGAIN_NANOS : COUNT_NANOS);
    }
  }

  /** Waits for the batches that are being sent, at most {@link #CLOSE_MAX}. */
  @Override
  public void close() {
    closed = true;
    stop.release();
    backlog.release();
    try {
      for (Thread thread : List.of(poller, helper)) {
        if (!thread.join(CLOSE_MAX)) {
          thread.interrupt();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
