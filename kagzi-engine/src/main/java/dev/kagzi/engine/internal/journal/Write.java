package dev.kagzi.engine.internal.journal;

import dev.kagzi.engine.value.Refusal;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;
import org.slf4j.spi.LoggingEventBuilder;

/**
 * A change to be made durable, and its answer. The answer is staged in the open transaction and
 * given after the commit. A batch that is sent again stages new answers.
 */
public abstract class Write<R> {
  private final CompletableFuture<R> done = new CompletableFuture<>();
  private @Nullable R staged;
  private @Nullable Refusal refusal;
  private boolean uncertain;
  private @Nullable Write<?> earlier;
  private volatile @Nullable Refusal failure;

  /** Writes with equal keys go through the same lane, in order. */
  protected abstract UUID key();

  protected abstract int bytes();

  protected String call() {
    return getClass().getSimpleName();
  }

  /** Names what {@link #key} identifies, for the log. */
  protected String subject() {
    return "key";
  }

  /** Adds what the write is about to a log line. */
  protected LoggingEventBuilder addSubject(LoggingEventBuilder line) {
    return line.addKeyValue(subject(), key());
  }

  protected Level refusedLevel() {
    return Level.WARN;
  }

  /** Completes when the write is committed, or exceptionally with a {@link Refusal}. */
  public final CompletableFuture<R> done() {
    return done;
  }

  /** Stages the answer; it is given after the commit. */
  public final void answer(R answer) {
    this.staged = answer;
    this.refusal = null;
  }

  /**
   * Returns the answer that an earlier send of this write staged; null if there is none. The
   * earlier send may have been committed although PostgreSQL's confirmation was lost. For writes
   * that cannot distinguish their own effect from another write's.
   */
  public final @Nullable R answerBefore() {
    return staged;
  }

  /** Returns whether an earlier send has an unknown outcome: its effect may already be there. */
  public final boolean isUncertain() {
    return uncertain;
  }

  final void becomeUncertain() {
    uncertain = true;
  }

  /** Stages a refusal: this write changes nothing, the others of the batch are executed. */
  public final void refuse(Refusal reason) {
    this.refusal = reason;
    this.staged = null;
  }

  final void settle() {
    if (refusal != null) {
      done.completeExceptionally(refusal);
    } else if (staged != null) {
      done.complete(staged);
    } else {
      done.completeExceptionally(
          Refusal.of(
              Refusal.Reason.INTERNAL,
              "write",
              "",
              getClass().getSimpleName() + ": no answer (expected: one per write)"));
    }
  }

  /** If the earlier write fails, this one fails with the same refusal. Both have the same key. */
  public final void dependOn(Write<?> earlierWrite) {
    this.earlier = earlierWrite;
  }

  /** Why the write that this one depends on has failed; null if it has not. */
  final @Nullable Refusal earlierFailure() {
    return earlier == null ? null : earlier.failure;
  }

  final void fail(Refusal reason) {
    failure = reason;
    done.completeExceptionally(reason);
  }
}
