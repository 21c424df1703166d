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
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** One serial writer: a thread, its session and its queue. */
final class Lane<W extends Write<?>> {
  private static final Logger log = LoggerFactory.getLogger(Lane.class);
  private static final int REPEATS_MAX = 20;
  private static final int ALONE_MAX = 2;
  private static final long PAUSE_MS_MAX = 1_000;

  private final String name;
  private final Database database;
  private final BatchWriter<W> writer;
  private final JournalConfig config;
  private final JournalMetrics metrics;
  private final LongAdder batches;
  private final LongAdder written;
  private final CommitTurns turns;
  private final List<Lane<W>> lanes;
  private final Thread thread;

  /** Held while writes of this lane are committed, by this lane or another. */
  private final ReentrantLock committing = new ReentrantLock();

  /** The lanes whose writes are in the present batch. Used by this lane's thread only. */
  private final List<Lane<W>> locked = new ArrayList<>();

  /** Backends of other lanes that may still commit writes of this one. */
  private final Queue<BackendProcess> uncertain = new ConcurrentLinkedQueue<>();

  final WriteQueue<W> queue;

  private @Nullable Session session;
  private @Nullable BackendProcess backend;
  private volatile boolean unavailable;
  private volatile boolean closed;

  Lane(
      String name,
      Database database,
      BatchWriter<W> writer,
      JournalConfig config,
      JournalMetrics metrics,
      LongAdder batches,
      LongAdder written,
      CommitTurns turns,
      List<Lane<W>> lanes,
      EssentialThreads threads) {
    this.name = name;
    this.database = database;
    this.writer = writer;
    this.config = config;
    this.metrics = metrics;
    this.batches = batches;
    this.written = written;
    this.turns = turns;
    this.lanes = lanes;
    this.queue = new WriteQueue<>(config.queueBytesMax() / config.lanes());
    this.thread = threads.loop("kagzi-" + name, this::drain);
  }

  void start() {
    thread.start();
  }

  /**
   * True from the moment when a batch was given up, after {@code databasePatience} without the
   * database, until the next commit.
   */
  boolean isUnavailable() {
    return unavailable;
  }

  private void drain() {
    List<W> batch = List.of();
    try {
      int last = 0;
      for (int waiting = queue.awaitWrites(); waiting > 0; waiting = queue.awaitWrites()) {
        turns.begin(last + waiting);
        long beganNanos = System.nanoTime();
        try {
          lockIdleLanes();
          batch = take();
          last = batch.size();
          if (!batch.isEmpty()) {
            batches.increment();
            written.add(batch.size());
            metrics.batch(batch.size());
            commitOrSplit(batch);
            batch = List.of();
          }
        } finally {
          locked.forEach(lane -> lane.committing.unlock());
          locked.clear();
          turns.end(System.nanoTime() - beganNanos);
        }
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
   * Locks this lane. If other servers use the database, also locks those lanes of this server that
   * do not commit now: their writes go into the same batch, and keep their order.
   */
  private void lockIdleLanes() throws InterruptedException {
    committing.lockInterruptibly();
    locked.add(this);
    if (turns.areShared()) {
      for (Lane<W> lane : lanes) {
        if (lane != this && lane.committing.tryLock()) {
          locked.add(lane);
        }
      }
    }
  }

  /** Takes from the locked lanes; nothing if another lane has taken the writes of this one. */
  private List<W> take() {
    List<W> batch = new ArrayList<>();
    long bytesLeft = config.batchBytesMax();
    for (Lane<W> lane : locked) {
      int writesLeft = config.batchWritesMax() - batch.size();
      if (writesLeft > 0 && bytesLeft > 0) {
        for (W write : lane.queue.poll(writesLeft, bytesLeft)) {
          batch.add(write);
          bytesLeft -= write.bytes();
        }
      }
    }
    return batch;
  }

  private void commitOrSplit(List<W> batch) throws InterruptedException {
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
              refuseAll(batch, "the database is contended (SQLSTATE " + e.getSQLState() + ")");
              return;
            }
          }
          case RECONNECT -> {
            batch.forEach(Write::becomeUncertain);
            logFailure(batch, e);
            dropSession();
            if (System.nanoTime() - patienceEnd > 0 || closed) {
              giveUp(batch, e);
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

  private void commit(List<W> batch) throws SQLException {
    Session open = connected();
    endUncertain(open);
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
    commitOrSplit(batch.subList(0, middle));
    commitOrSplit(batch.subList(middle, batch.size()));
  }

  private boolean commitInParts(W write) {
    try {
      Optional<BatchWriter.Effects> effects =
          connected().inTransaction(tx -> writer.writeInParts(tx, write));
      effects.ifPresent(done -> settle(List.of(write), done));
      return effects.isPresent();
    } catch (SQLException e) {
      // If PostgreSQL refused the data again (SPLIT), the caller logs the first error.
      if (SqlErrors.remedy(e) != SqlErrors.Remedy.SPLIT) {
        logFailure(List.of(write), e);
      }
      return false;
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

  private void giveUp(List<W> batch, SQLException cause) {
    unavailable = true;
    for (Lane<W> lane : locked) {
      if (lane != this && backend != null) {
        lane.uncertain.add(backend);
      }
    }
    String why = "the database is unavailable (SQLSTATE " + cause.getSQLState() + "); try again";
    // Empty the queue first: a caller that retries after the refusal must find it empty, or append
    // refuses again.
    List<W> waiting = queue.drain();
    refuseAll(batch, why);
    refuseAll(waiting, why);
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

  /** A write may be sent again through this lane after another one has given it up. */
  private void endUncertain(Session open) throws SQLException {
    for (BackendProcess other = uncertain.peek(); other != null; other = uncertain.peek()) {
      other.end(open);
      uncertain.remove();
    }
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
