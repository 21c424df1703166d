package dev.kagzi.server.web;

import dev.kagzi.engine.value.Refusal;
import dev.kagzi.server.web.page.Answers;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * Refuses a page when PostgreSQL hangs, long before the timeouts of its connections end the
 * statement. Work that is only slow is not refused: while the work takes long, a probe query that
 * reads no table shows whether PostgreSQL still answers. Thread-safe.
 */
final class HangGuard {
  private static final Duration PATIENCE = Duration.ofSeconds(2);
  private static final Executor THREADS = Thread.ofVirtual().name("kagzi-page")::start;

  private final Supplier<Optional<String>> databaseProblem;
  private CompletableFuture<Optional<String>> probe =
      CompletableFuture.completedFuture(Optional.empty());

  /**
   * Creates a guard.
   *
   * @param databaseProblem returns why the database does not answer, or empty; may block
   */
  HangGuard(Supplier<Optional<String>> databaseProblem) {
    this.databaseProblem = databaseProblem;
  }

  /**
   * Returns the result of the work, or throws what it throws.
   *
   * @throws Refusal if PostgreSQL hangs; the work is abandoned and ends when its connection does
   */
  <T> T call(Supplier<T> work) {
    return call(work, "Nothing was changed. Load the page again when PostgreSQL answers.");
  }

  /** Like {@link #call}, for work that changes something. */
  <T> T change(Supplier<T> work) {
    return call(work, "The action may still take effect: look before you repeat it.");
  }

  private <T> T call(Supplier<T> work, String advice) {
    CompletableFuture<T> answer = CompletableFuture.supplyAsync(work, THREADS);
    while (!isDone(answer)) {
      CompletableFuture<Optional<String>> probed = probe();
      if (!isDone(probed) || Answers.await(probed).isPresent()) {
        throw Refusal.of(
            Refusal.Reason.UNAVAILABLE,
            "database",
            "",
            "PostgreSQL does not answer the server. " + advice);
      }
    }
    return Answers.await(answer);
  }

  // One probe at a time, since it holds a connection for as long as PostgreSQL hangs.
  private synchronized CompletableFuture<Optional<String>> probe() {
    if (probe.isDone()) {
      probe = CompletableFuture.supplyAsync(databaseProblem, THREADS);
    }
    return probe;
  }

  private static boolean isDone(CompletableFuture<?> answer) {
    try {
      answer.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
      return true;
    } catch (ExecutionException failed) {
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Refusal.of(Refusal.Reason.UNAVAILABLE, "server", "", "The server stops.");
    }
  }
}
