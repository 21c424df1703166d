package dev.kagzi.server.trace;

import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.run.StartResult;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Traces nothing. */
final class NoServerTracing implements ServerTracing {
  @Override
  public void started(List<StartRequest> requests, List<CompletableFuture<StartResult>> answers) {}

  @Override
  public void dispatched(List<Task> tasks) {}

  @Override
  public void close(Duration timeout) {}
}
