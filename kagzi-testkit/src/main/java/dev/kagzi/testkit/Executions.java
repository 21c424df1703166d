package dev.kagzi.testkit;

import dev.kagzi.sdk.StepContext;
import dev.kagzi.sdk.WorkerInterceptor;
import dev.kagzi.sdk.WorkflowContext;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Records every execution of a step's code by workers of one environment. The server's history does
 * not contain executions that were lost with their worker. Thread-safe.
 */
final class Executions implements WorkerInterceptor, AutoCloseable {
  // Static, because run ids are unique and assertions have no environment at hand.
  private static final Map<String, List<String>> KEYS_BY_RUN = new ConcurrentHashMap<>();

  private final Set<String> runs = ConcurrentHashMap.newKeySet();

  /**
   * Returns the keys of the executed steps in order; empty if no worker of this JVM executed the
   * run.
   */
  static Optional<List<String>> of(String runId) {
    List<String> keys = KEYS_BY_RUN.get(runId);
    if (keys == null) {
      return Optional.empty();
    }
    synchronized (keys) {
      return Optional.of(List.copyOf(keys));
    }
  }

  @Override
  public @Nullable Object run(WorkflowContext ctx, Callable<@Nullable Object> next)
      throws Exception {
    List<String> unused = keys(ctx.runId());
    return next.call();
  }

  @Override
  public @Nullable Object step(StepContext step, Callable<@Nullable Object> next) throws Exception {
    String runAndKey = step.idempotencyKey();
    keys(runAndKey.substring(0, runAndKey.indexOf('/'))).add(step.step());
    return next.call();
  }

  private List<String> keys(String runId) {
    runs.add(runId);
    return KEYS_BY_RUN.computeIfAbsent(
        runId, unused -> Collections.synchronizedList(new ArrayList<>()));
  }

  @Override
  public void close() {
    runs.forEach(KEYS_BY_RUN::remove);
  }
}
