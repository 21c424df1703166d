package dev.kagzi.sdk.internal.jdbc;

import dev.kagzi.sdk.internal.log.EventLog;
import dev.kagzi.sdk.jdbc.OutboxRelay;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Predicate;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Sends rows of an outbox on its own threads. A row is locked while it is sent and deleted in the
 * same transaction, after the server has answered. If the process stops in between, the row is sent
 * again; its message has ids that make the second one harmless.
 *
 * <p>One thread polls. While there is more than a batch to send, a second one works like another
 * relay: one of them waits for the server while the other one uses the database.
 */
public final class OutboxPump implements OutboxRelay {
  private static final EventLog log = EventLog.of(OutboxPump.class);
  private static final int BATCH_MAX = 1_000;
  private static final long BATCH_BYTES_MAX = 8 << 20;
  private static final long FAILED_MS = 1_000;
  private static final Duration CLOSE_MAX = Duration.ofSeconds(15);

  private final DataSourceTransactions transactions;
  private final String namespace;
  private final long intervalMs;
  private final Function<OutboxRow, CompletableFuture<?>> send;
  private final Predicate<Throwable> isFinal;
  private final Semaphore stop = new Semaphore(0);

  /** Gets a permit when a batch was full, or when this is closed. */
  private final Semaphore backlog = new Semaphore(0);

  private final AtomicLong sent = new AtomicLong();
  private final Thread poller;
  private final Thread helper;
  private volatile boolean closed;

  /**
   * Starts it.
   *
   * @param interval between two polls if there is nothing to send
   * @param send sends a row; the future completes when the server has answered
   * @param isFinal whether sending the row again would fail in the same way
   */
  public OutboxPump(
      DataSource dataSource,
      String namespace,
      Duration interval,
      Function<OutboxRow, CompletableFuture<?>> send,
      Predicate<Throwable> isFinal) {
    this.transactions = new DataSourceTransactions(dataSource);
    this.namespace = namespace;
    this.intervalMs = interval.toMillis();
    this.send = send;
    this.isFinal = isFinal;
    this.poller = Thread.ofPlatform().daemon().name("kagzi-outbox").start(this::poll);
    this.helper = Thread.ofPlatform().daemon().name("kagzi-outbox-2").start(this::help);
  }

  @Override
  public long sent() {
    return sent.get();
  }

  private void poll() {
    try {
      long waitMs;
      do {
        Batch batch = pumpQuietly();
        if (batch.found == BATCH_MAX) {
          backlog.release();
        }
        waitMs = pauseMs(batch);
      } while (!stop.tryAcquire(waitMs, TimeUnit.MILLISECONDS));
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    }
  }

  private void help() {
    try {
      while (true) {
        backlog.acquire();
        backlog.drainPermits();
        if (closed) {
          return;
        }
        pumpQuietly();
      }
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * What one transaction did.
   *
   * @param found -1 if the database failed
   */
  private record Batch(int found, int sent) {
    static final Batch FAILED = new Batch(-1, 0);
  }

  private long pauseMs(Batch batch) {
    if (batch.sent > 0) {
      // The next rows of the same keys may be sent now.
      return 0;
    }
    return batch.found == 0 ? intervalMs : Math.max(intervalMs, FAILED_MS);
  }

  private Batch pumpQuietly() throws InterruptedException {
    try {
      Batch batch = pump();
      sent.addAndGet(batch.sent);
      return batch;
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      log.warn("the outbox could not be read, trying again")
          .with("namespace", namespace)
          .cause(e)
          .write();
      return Batch.FAILED;
    }
  }

  private Batch pump() throws Exception {
    return transactions.inTransaction(
        connection -> {
          List<OutboxRow> rows = OutboxRows.lock(connection, namespace, BATCH_MAX, BATCH_BYTES_MAX);
          List<CompletableFuture<?>> answers = new ArrayList<>(rows.size());
          rows.forEach(row -> answers.add(send.apply(row)));
          List<OutboxRow> done = new ArrayList<>(rows.size());
          for (int i = 0; i < rows.size(); i++) {
            Throwable failure = failure(answers.get(i));
            if (failure == null) {
              done.add(rows.get(i));
            } else if (isFinal.test(failure)) {
              refuse(connection, rows.get(i), failure);
            } else {
              log.debug("a message of the outbox was not sent, trying again")
                  .with("id", rows.get(i).id())
                  .cause(failure)
                  .write();
            }
          }
          OutboxRows.delete(connection, done);
          return new Batch(rows.size(), done.size());
        });
  }

  private static void refuse(Connection connection, OutboxRow row, Throwable failure)
      throws SQLException {
    log.warn("the server refused a message of the outbox, later ones of its key wait")
        .with("id", row.id())
        .cause(failure)
        .write();
    OutboxRows.refuse(connection, row.id(), String.valueOf(failure.getMessage()));
  }

  /** Returns why the message was not accepted; null if it was. */
  private static @Nullable Throwable failure(CompletableFuture<?> answer)
      throws InterruptedException {
    try {
      answer.get();
      return null;
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      return cause instanceof CompletionException && cause.getCause() != null
          ? cause.getCause()
          : cause;
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
