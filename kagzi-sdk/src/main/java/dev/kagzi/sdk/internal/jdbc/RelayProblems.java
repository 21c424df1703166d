package dev.kagzi.sdk.internal.jdbc;

import dev.kagzi.sdk.internal.log.EventLog;
import dev.kagzi.sdk.jdbc.RelayProblem;
import dev.kagzi.sdk.jdbc.RelayProblem.Kind;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The present problems of a relay. Logs a line when one begins, one a minute while it lasts, and
 * one when it is over. Thread-safe.
 */
final class RelayProblems {
  private static final EventLog log = EventLog.of(OutboxPump.class);
  private static final long LINE_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final String namespace;
  private final LongSupplier nanoClock;
  private final Map<Kind, Present> present = new EnumMap<>(Kind.class);

  private record Present(RelayProblem problem, long lineNanos) {}

  RelayProblems(String namespace, LongSupplier nanoClock) {
    this.namespace = namespace;
    this.nanoClock = nanoClock;
  }

  synchronized List<RelayProblem> list() {
    return present.values().stream().map(Present::problem).toList();
  }

  synchronized boolean has(Kind kind) {
    return present.containsKey(kind);
  }

  /** Records that one more try has failed. */
  synchronized void failed(Kind kind, Throwable failure) {
    Present before = present.get(kind);
    set(kind, before == null ? 1 : before.problem.count() + 1, failure.toString(), failure);
  }

  /** Records how many rows the problem concerns; 0 if it is over. */
  synchronized void set(Kind kind, long count, String reason) {
    if (count == 0) {
      over(kind);
    } else {
      set(kind, count, reason, null);
    }
  }

  private void set(Kind kind, long count, String reason, @Nullable Throwable failure) {
    Present before = present.get(kind);
    long now = nanoClock.getAsLong();
    boolean logged = before == null || now - before.lineNanos >= LINE_NANOS;
    Instant since = before == null ? Instant.now() : before.problem.since();
    long lineNanos = before == null || logged ? now : before.lineNanos;
    present.put(kind, new Present(new RelayProblem(kind, since, count, reason), lineNanos));
    if (logged) {
      log.warn(text(kind))
          .with("namespace", namespace)
          .with("since", since)
          .with("count", count)
          .with("reason", reason)
          .cause(before == null ? failure : null)
          .write();
    }
  }

  synchronized void over(Kind kind) {
    Present before = present.remove(kind);
    if (before != null) {
      log.info("over: " + text(kind))
          .with("namespace", namespace)
          .with("since", before.problem.since())
          .with("count", before.problem.count())
          .write();
    }
  }

  private static String text(Kind kind) {
    return switch (kind) {
      case OUTBOX_UNREADABLE -> "the outbox cannot be read, nothing is sent";
      case SERVER_UNAVAILABLE -> "no server accepts the messages of the outbox, trying again";
      case MESSAGES_WAITING ->
          "messages of the outbox are not accepted at present, later ones of their keys wait";
      case MESSAGES_REFUSED ->
          "the server has refused messages of the outbox, later ones of their keys wait";
    };
  }
}
