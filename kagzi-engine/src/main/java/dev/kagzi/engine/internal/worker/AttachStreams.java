package dev.kagzi.engine.internal.worker;

import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.notification.ServerMessage;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.value.WorkerStatus;
import dev.kagzi.engine.worker.AttachListener;
import dev.kagzi.engine.worker.Attachment;
import dev.kagzi.engine.worker.Workers;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** The Attach streams that are open on this server. Thread-safe. */
public final class AttachStreams implements AutoCloseable {
  private final Database database;
  private final WorkerCache cache;
  private final Recovery recovery;
  private final long detachedMs;
  private final Executor blocking;
  private final ScheduledExecutorService timer;
  private final Map<WorkerId, Stream> streams = new ConcurrentHashMap<>();

  private final AtomicLong opened = new AtomicLong();

  /**
   * An open stream.
   *
   * @param number higher than those of streams that were opened earlier on this server
   */
  private record Stream(long number, UUID attachId, AttachListener listener) {}

  public AttachStreams(
      Database database,
      WorkerCache cache,
      Recovery recovery,
      long detachedMs,
      Executor blocking,
      ScheduledExecutorService timer) {
    this.database = database;
    this.cache = cache;
    this.recovery = recovery;
    this.detachedMs = detachedMs;
    this.blocking = blocking;
    this.timer = timer;
  }

  public Attachment open(String namespace, WorkerId worker, AttachListener listener) {
    UUID attachId = RunId.next().value();
    Stream opening = new Stream(opened.incrementAndGet(), attachId, listener);
    CompletableFuture.supplyAsync(() -> store(namespace, worker, attachId), blocking)
        .whenComplete(
            (row, refusal) -> {
              if (refusal != null) {
                listener.closed(Workers.asRefusal(refusal));
                return;
              }
              Stream latest =
                  streams.merge(
                      worker, opening, (one, other) -> one.number > other.number ? one : other);
              if (!latest.equals(opening)) {
                // A later stream of the worker was stored before this one: its id must stay.
                store(namespace, worker, latest.attachId);
              }
              listener.attached();
              if (row.status() == WorkerStatus.DRAINING) {
                listener.drain();
              }
            });
    return () -> broken(worker, attachId);
  }

  private WorkerRows.Known store(String namespace, WorkerId worker, UUID attachId) {
    WorkerRows.Known row =
        database
            .writeRepeatable(tx -> WorkerRows.attach(tx, worker, namespace, attachId))
            .orElseThrow(() -> Refusal.notFound("worker", worker));
    cache.put(row);
    return row;
  }

  private void broken(WorkerId worker, UUID attachId) {
    streams.computeIfPresent(
        worker, (id, stream) -> stream.attachId.equals(attachId) ? null : stream);
    if (!timer.isShutdown()) {
      // The worker may have lost only its connection: give it time to attach again, to any server.
      long brokenNanos = System.nanoTime();
      timer.schedule(
          () ->
              CompletableFuture.runAsync(
                  () -> recovery.releaseStreamBroken(worker, attachId, brokenNanos), blocking),
          detachedMs + 100,
          TimeUnit.MILLISECONDS);
    }
  }

  public boolean send(ServerMessage.ToWorker message) {
    Stream stream = streams.get(message.worker());
    if (stream == null) {
      return false;
    }
    switch (message) {
      case ServerMessage.Stop stop -> stream.listener.stop(List.of(stop.claim()), stop.status());
      case ServerMessage.StepEnded ended -> stream.listener.stepEnded(List.of(ended.claim()));
      case ServerMessage.CancelRequested request ->
          stream.listener.cancelRequested(List.of(request.claim()));
      case ServerMessage.Drain ignored -> stream.listener.drain();
    }
    return true;
  }

  public void close(WorkerId worker) {
    Stream stream = streams.remove(worker);
    if (stream != null) {
      stream.listener.closed(Refusal.notFound("worker", worker));
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
    streams
        .values()
        .forEach(
            stream ->
                stream.listener.closed(
                    Refusal.of(
                        Refusal.Code.SERVER_STOPPING, "server", "", "this server is stopping")));
    streams.clear();
  }
}
