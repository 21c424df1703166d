package dev.kagzi.engine.internal.journal;

import dev.kagzi.engine.config.JournalConfig;
import dev.kagzi.engine.internal.db.BackendProcess;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.db.DatabaseFailureLog;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.db.SqlErrors;
import dev.kagzi.engine.metrics.JournalMetrics;
import dev.kagzi.engine.thread.EssentialThreads;
import dev.kagzi.engine.value.Refusal;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** One serial writer: a thread, its session and its queue. */
final class Lane<W extends Write<?>> {
  private static final Logger log = LoggerFactory.getLogger(Lane.class);
  private static final int REPEATS_MAX = 20;

  /** The last step and the end of a run are written by one statement, too. */
  private static final int ALONE_MAX = 2;

  private static final long PAUSE_MS_MAX = 1_000;

  private final int index;
  private final String name;
  private final Database database;
  private final BatchWriter<W> writer;
  private final JournalConfig config;
  private final JournalMetrics metrics;
  private final LongAdder batches;
  private final LongAdder written;
  private final List<Lane<W>> lanes;
  private final LaneShare share;
  private final Thread thread;
  final WriteQueue<W> queue;

  private @Nullable Session session;
  private @Nullable BackendProcess backend;
  private volatile boolean unavailable;
  private volatile boolean closed;

  /**
   * Creates a lane.
   *
   * @param lanes all lanes of the journal; this lane is at {@code index}
   */
  Lane(
      int index,
      List<Lane<W>> lanes,
      LaneShare share,
      Database database,
      BatchWriter<W> writer,
      JournalConfig config,
      JournalMetrics metrics,
      LongAdder batches,
      LongAdder written,
      EssentialThreads threads) {
    this.index = index;
    this.name = "lane-" + index;
    this.lanes = lanes;
    this.share = share;
    this.database = database;
    this.writer = writer;
    this.config = config;
    this.metrics = metrics;
    this.batches = batches;
    this.written = written;
    this.queue = new WriteQueue<>(config.queueBytesMax() / config.lanes());
    this.thread = threads.loop("kagzi-" + name, this::drain);
  }

  void start() {
    thread.start();
  }

  /**
   * True from the moment when a batch was given up, because the database was away for {@code
   * databasePatience} or contended for too long, until the next commit.
   */
  boolean isUnavailable() {
    return unavailable;
  }

  private void drain() {
    List<W> batch = List.of();
    try {
      while (true) {
        shareLanes();
        batch = queue.take(config.batchWritesMax(), config.batchBytesMax());
        if (batch.isEmpty()) {
          return;
        }
        int writes = batch.size();
        batches.increment();
        written.add(writes);
        metrics.batch(writes);
        long beganNanos = System.nanoTime();
        commitOrSplit(batch);
        batch = List.of();
        TimeUnit.NANOSECONDS.sleep(share.pauseNanos(writes, System.nanoTime() - beganNanos));
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    } finally {
      if (session != null) {
        session.close();
      }
      refuseAll(batch, "this server is stopping");
      refuseAll(queue.drain(), "this server is stopping");
    }
  }

  /**
   * Forwards the writes of this lane to another one, and gives back the writes of other lanes, as
   * {@link LaneShare} requires. Called between two batches, when no write of this lane is in
   * flight. After a broken connection it does nothing: the last backend may still commit until
   * {@link #connected} has terminated it.
   */
  private void shareLanes() {
    if (backend != null && session == null) {
      return;
    }
    synchronized (share) {
      boolean isUsed = false;
      for (Lane<W> lane : lanes) {
        if (lane.queue.forwardsTo(queue)) {
          if (share.laneFor(lane.index) == index) {
            isUsed = true;
          } else {
            lane.queue.takeBack(queue, write -> Journal.index(write, lanes) == lane.index);
            isUsed |= lane.queue.forwardsTo(queue);
          }
        }
      }
      WriteQueue<W> target = lanes.get(share.laneFor(index)).queue;
      if (target != queue && !isUsed && !queue.forwards() && !target.forwards()) {
        unavailable = false;
        queue.forwardTo(target);
      }
    }
  }

  /**
   * Returns the lane that executes the writes of this lane: the one that they are forwarded to, or
   * itself.
   */
  Lane<W> destination() {
    if (queue.forwards()) {
      for (Lane<W> lane : lanes) {
        if (queue.forwardsTo(lane.queue)) {
          return lane;
        }
      }
    }
    return this;
  }

  private void commitOrSplit(List<W> writes) throws InterruptedException {
    List<W> batch = failDependent(writes);
    if (batch.isEmpty()) {
      return;
    }
    long patienceEnd = System.nanoTime() + config.databasePatience().toNanos();
    int repeats = 0;
    long pauseMs = 10;
    while (true) {
      try {
        commit(batch);
        unavailable = false;
        return;
      } catch (SQLException e) {
        switch (SqlErrors.remedy(e)) {
          case SPLIT -> {
            split(batch, e);
            return;
          }
          case REPEAT -> {
            if (++repeats > REPEATS_MAX) {
              giveUp(batch, "the database is contended", e);
              return;
            }
          }
          case RECONNECT -> {
            batch.forEach(Write::becomeUncertain);
            logFailure(batch, e);
            dropSession();
            if (System.nanoTime() - patienceEnd > 0 || closed) {
              giveUp(batch, "the database is unavailable", e);
              return;
            }
            TimeUnit.MILLISECONDS.sleep(pauseMs);
            pauseMs = Math.min(PAUSE_MS_MAX, pauseMs * 2);
          }
        }
      } catch (OutOfMemoryError | InternalError fatal) {
        // Not caused by one write: the next would fail too. The lane ends, and with it the server.
        throw fatal;
      } catch (RuntimeException | Error bug) {
        // A bug: fail the write that causes it, and keep the lane alive for the others.
        log.atError().setCause(bug).addKeyValue("lane", name).log("a batch failed unexpectedly");
        dropSession();
        splitAfterBug(batch);
        return;
      }
    }
  }

  /** Fails the writes whose earlier write has failed, and returns the others. */
  private List<W> failDependent(List<W> writes) {
    List<W> others = new ArrayList<>(writes.size());
    for (W write : writes) {
      Refusal why = write.earlierFailure();
      if (why == null) {
        others.add(write);
      } else {
        fail(write, why);
      }
    }
    return others;
  }

  private void commit(List<W> batch) throws SQLException {
    Session open = connected();
    long beganNanos = System.nanoTime();
    BatchWriter.Effects effects = null;
    if (batch.size() <= ALONE_MAX) {
      effects = writer.writeAlone(open, batch);
    }
    if (effects == null) {
      effects = open.inTransaction(tx -> writer.write(tx, batch));
    }
    metrics.committed(System.nanoTime() - beganNanos);
    settle(batch, effects);
  }

  private void settle(List<W> batch, BatchWriter.Effects effects) {
    publish(effects);
    for (W write : batch) {
      write.settle();
    }
  }

  private void publish(BatchWriter.Effects effects) {
    try {
      effects.run();
    } catch (RuntimeException bug) {
      log.atError()
          .setCause(bug)
          .addKeyValue("lane", name)
          .log("publishing the events of a commit failed");
    }
  }

  private void split(List<W> batch, SQLException cause) throws InterruptedException {
    if (batch.size() == 1) {
      W write = batch.get(0);
      if (!commitInParts(write)) {
        DatabaseFailureLog.logRefused(write.refusedLevel(), write.call(), write::addSubject, cause);
        fail(write, SqlErrors.refusal(cause));
      }
    } else {
      commitHalves(batch);
    }
  }

  private void commitHalves(List<W> batch) throws InterruptedException {
    int middle = batch.size() / 2;
    // The database has answered, so reset the flag. If it is set again, the first half was given
    // up. Then refuse the second half, too: no write may be committed without an earlier one with
    // the same key.
    unavailable = false;
    commitOrSplit(batch.subList(0, middle));
    List<W> second = batch.subList(middle, batch.size());
    if (unavailable) {
      refuseAll(second, "the database is unavailable; try again");
    } else {
      commitOrSplit(second);
    }
  }

  /** Returns false if the write cannot be committed in parts; otherwise it is answered. */
  private boolean commitInParts(W write) {
    try {
      Optional<BatchWriter.Effects> effects =
          connected().inTransaction(tx -> writer.writeInParts(tx, write));
      effects.ifPresent(done -> settle(List.of(write), done));
      return effects.isPresent();
    } catch (SQLException e) {
      if (SqlErrors.remedy(e) == SqlErrors.Remedy.SPLIT) {
        // PostgreSQL refused the data again.
        return false;
      }
      write.becomeUncertain();
      logFailure(List.of(write), e);
      dropSession();
      refuseAll(List.of(write), tryAgain("the database is unavailable", e));
      return true;
    }
  }

  private void logFailure(List<W> batch, SQLException cause) {
    Level level = Level.WARN;
    Set<String> calls = new TreeSet<>();
    for (W write : batch) {
      level = write.refusedLevel().toInt() > level.toInt() ? write.refusedLevel() : level;
      calls.add(write.call());
    }
    database.logFailure(level, String.join(",", calls), cause, session);
  }

  private void splitAfterBug(List<W> batch) throws InterruptedException {
    if (batch.size() > 1) {
      commitHalves(batch);
      return;
    }
    fail(
        batch.get(0),
        Refusal.of(Refusal.Reason.INTERNAL, "write", "", "the engine failed; its log says why"));
  }

  /**
   * Refuses the batch and all queued writes: no write may be committed without an earlier one with
   * the same key.
   */
  private void giveUp(List<W> batch, String what, SQLException cause) {
    unavailable = true;
    String why = tryAgain(what, cause);
    // Empty the queue first: a caller that retries after the refusal must find it empty, or append
    // refuses again.
    List<W> waiting = queue.drain();
    refuseAll(batch, why);
    refuseAll(waiting, why);
  }

  private static String tryAgain(String what, SQLException cause) {
    return what + " (SQLSTATE " + cause.getSQLState() + "); try again";
  }

  private void refuseAll(List<W> writes, String why) {
    for (W write : writes) {
      fail(write, Refusal.of(Refusal.Reason.UNAVAILABLE, "database", "", why));
    }
  }

  private void fail(W write, Refusal refusal) {
    metrics.rejected(refusal.reason(), 1);
    write.fail(refusal);
  }

  private Session connected() throws SQLException {
    if (session != null && session.isUsable()) {
      return session;
    }
    Session fresh = database.open(name);
    try {
      // The old backend may still commit. Terminate it before a write is sent again; otherwise the
      // repeated write could decide on a state that is about to change.
      if (backend != null) {
        backend.end(fresh);
      }
      backend = BackendProcess.of(fresh);
      writer.prepare(fresh);
    } catch (SQLException e) {
      fresh.close();
      throw e;
    }
    session = fresh;
    return fresh;
  }

  private void dropSession() {
    if (session != null) {
      session.close();
      session = null;
    }
  }

  /** Commits the queued writes for at most {@code millisMax}, then refuses the remaining ones. */
  void close(long millisMax) throws InterruptedException {
    queue.close();
    thread.join(millisMax);
    closed = true;
    if (thread.isAlive()) {
      thread.interrupt();
      thread.join(millisMax);
    }
  }
}
