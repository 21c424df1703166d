package dev.kagzi.engine.internal.chore;

import dev.kagzi.engine.internal.db.DatabaseFailureLog;
import dev.kagzi.engine.thread.EssentialThreads;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs all chores on one thread, at an interval. If a chore throws, the others still run. */
public final class Coordinator implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Coordinator.class);

  private final ScheduledThreadPoolExecutor thread;
  private final List<Chore> chores;

  public Coordinator(String name, List<Chore> chores, Duration interval, EssentialThreads threads) {
    this.thread = threads.timer("kagzi-" + name);
    this.chores = List.copyOf(chores);
    for (Chore chore : chores) {
      thread.scheduleWithFixedDelay(
          () -> runQuietly(chore), 0, interval.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  /** Runs all chores soon, in addition to the interval. Does not wait. */
  public void runNow() {
    thread.execute(() -> chores.forEach(Coordinator::runQuietly));
  }

  private static void runQuietly(Chore chore) {
    try {
      chore.run();
    } catch (RuntimeException e) {
      if (!DatabaseFailureLog.isLogged(e)) {
        log.atWarn()
            .addKeyValue("chore", chore.getClass().getSimpleName())
            .addKeyValue("cause", e.getMessage())
            .log("a chore failed, it will be tried again");
      }
    }
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }
}
