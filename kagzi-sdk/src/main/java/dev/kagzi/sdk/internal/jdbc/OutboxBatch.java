package dev.kagzi.sdk.internal.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/** The rows of an outbox that one transaction sends. Not thread-safe. */
final class OutboxBatch {
  /** No server accepts a larger message: the limit of a payload is at most 4 MiB. */
  static final long MESSAGE_BYTES_MAX = 5 << 20;

  private final Connection connection;
  private final String namespace;
  private final OutboxSender sender;
  private final List<Sending> sending = new ArrayList<>();
  private final List<Long> sent = new ArrayList<>();
  private final List<Failed> refused = new ArrayList<>();
  private final List<Failed> failed = new ArrayList<>();
  private long bytes;
  private boolean answered;

  private record Sending(OutboxRow row, String runId, CompletableFuture<?> answer) {}

  /** A row that the server did not accept. */
  record Failed(long id, Throwable failure) {}

  OutboxBatch(Connection connection, String namespace, OutboxSender sender) {
    this.connection = connection;
    this.namespace = namespace;
    this.sender = sender;
  }

  /**
   * Sends a row that this transaction has locked. If no server could accept it, refuses it here.
   */
  void add(OutboxRows.Locked locked) throws SQLException {
    OutboxRow.Kind kind = kind(locked.kind());
    if (kind == null) {
      refuse(
          locked.id(),
          "kind: %s (expected: %s; a newer relay may know it)"
              .formatted(locked.kind(), Arrays.toString(OutboxRow.Kind.values())));
    } else if (locked.bytes() > MESSAGE_BYTES_MAX) {
      refuse(
          locked.id(),
          "message: %d bytes (expected: at most %d)".formatted(locked.bytes(), MESSAGE_BYTES_MAX));
    } else {
      byte[] inline = locked.message();
      byte[] message = inline == null ? OutboxRows.message(connection, locked.id()) : inline;
      OutboxRow row = new OutboxRow(locked.id(), kind, message);
      sending.add(new Sending(row, locked.runId(), send(row)));
      bytes += message.length;
    }
  }

  private void refuse(long id, String reason) {
    refused.add(new Failed(id, new IllegalArgumentException(reason)));
  }

  private static OutboxRow.@Nullable Kind kind(String name) {
    return Arrays.stream(OutboxRow.Kind.values())
        .filter(kind -> kind.name().equals(name))
        .findFirst()
        .orElse(null);
  }

  /** A message that cannot even be sent must not stop the others. */
  private CompletableFuture<?> send(OutboxRow row) {
    try {
      return sender.send().apply(row);
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  boolean isFull() {
    return bytes >= OutboxRows.BATCH_BYTES_MAX;
  }

  /** Waits for the answers, deletes the rows that were accepted, and marks those refused. */
  void finish() throws SQLException, InterruptedException {
    List<Sending> withoutRun = new ArrayList<>();
    for (Sending each : sending) {
      Throwable failure = failure(each.answer);
      if (failure != null && isOfMissingRun(each, failure)) {
        withoutRun.add(each);
      } else {
        record(each.row.id(), failure);
      }
    }
    sendAfterStarts(withoutRun);
    OutboxRows.delete(connection, sent);
    for (Failed each : refused) {
      OutboxRows.refuse(connection, each.id, String.valueOf(each.failure.getMessage()));
    }
  }

  /**
   * Sends these signals once more, except those whose run has its start in the outbox: they wait.
   */
  private void sendAfterStarts(List<Sending> signals) throws SQLException, InterruptedException {
    Set<String> withStart =
        OutboxRows.withStart(connection, namespace, signals.stream().map(Sending::runId).toList());
    List<Sending> again = new ArrayList<>();
    for (Sending each : signals) {
      if (withStart.contains(each.runId)) {
        failed.add(new Failed(each.row.id(), startIsNotSent(each.runId)));
      } else {
        // Another relay may have sent the start after this signal.
        again.add(new Sending(each.row, each.runId, send(each.row)));
      }
    }
    for (Sending each : again) {
      record(each.row.id(), failure(each.answer));
    }
  }

  private boolean isOfMissingRun(Sending each, Throwable failure) {
    return each.row.kind() == OutboxRow.Kind.SIGNAL && sender.isRunMissing().test(failure);
  }

  private static Exception startIsNotSent(String runId) {
    return new IllegalStateException(
        "run %s: its start is in the outbox, under another key (expected: to be sent first)"
            .formatted(runId));
  }

  private void record(long id, @Nullable Throwable failure) {
    if (failure == null) {
      answered = true;
      sent.add(id);
    } else if (sender.isFinal().test(failure)) {
      answered = true;
      refused.add(new Failed(id, failure));
    } else {
      failed.add(new Failed(id, failure));
    }
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

  List<Long> sent() {
    return sent;
  }

  List<Failed> refused() {
    return refused;
  }

  /** Returns the rows that are to be sent again. */
  List<Failed> failed() {
    return failed;
  }

  /** Whether a server has accepted or refused a row. */
  boolean isAnswered() {
    return answered;
  }

  /** Returns a failure to reach a server, if none has answered; otherwise null. */
  @Nullable Throwable unavailable() {
    if (answered) {
      return null;
    }
    for (Failed each : failed) {
      if (!sender.isUnavailable().test(each.failure)) {
        return null;
      }
    }
    return failed.isEmpty() ? null : failed.getFirst().failure;
  }
}
