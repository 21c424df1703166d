package dev.kagzi.engine.journal;

import dev.kagzi.engine.value.Refusal;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/**
 * Something to be made durable, and the answer to whoever asked for it. The answer is staged while
 * the transaction is open and given only after its commit; a batch that is sent again stages anew.
 */
public abstract class Write<R> {
  private final CompletableFuture<R> done = new CompletableFuture<>();
  private @Nullable R staged;
  private @Nullable Refusal refusal;
  private boolean uncertain;

  /** Writes with equal keys go through the same lane, in order. */
  protected abstract UUID key();

  /** How much of the journal's budget this write takes. */
  protected abstract int bytes();

  /** Which call this is, for the log. */
  protected String call() {
    return getClass().getSimpleName();
  }

  /** What {@link #key} is the id of, for the log. */
  protected String subject() {
    return "key";
  }

  /** How bad it is when the database refuses this write. */
  protected Level refusedLevel() {
    return Level.WARN;
  }

  /** Completes when the write is durable, or exceptionally with a {@link Refusal}. */
  public final CompletableFuture<R> done() {
    return done;
  }

  /** Stages the answer; it is given after the commit. */
  public final void answer(R answer) {
    this.staged = answer;
    this.refusal = null;
  }

  /**
   * What was staged when this write was sent before, if it was: its commit may have happened
   * although nobody heard so. Asked by writes whose effect cannot be told from somebody else's.
   */
  public final @Nullable R answerBefore() {
    return staged;
  }

  /**
   * True when this write was sent and nobody heard what became of it: what it wants to do may be
   * done already, by itself.
   */
  public final boolean isUncertain() {
    return uncertain;
  }

  /** The connection was lost while this write was under way. */
  final void becomeUncertain() {
    uncertain = true;
  }

  /** Stages a refusal: this write changes nothing, its neighbours go on. */
  public final void refuse(Refusal reason) {
    this.refusal = reason;
    this.staged = null;
  }

  /** Gives the staged answer. */
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

  /** Gives a refusal now. */
  final void fail(Refusal reason) {
    done.completeExceptionally(reason);
  }
}
