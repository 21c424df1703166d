package dev.kagzi.server.trace;

import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.run.StartResult;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Traces what the server does for a run. Thread-safe; its methods do not block, except {@link
 * #close}.
 */
public interface ServerTracing {
  ServerTracing OFF = new NoServerTracing();

  /** Returns tracing with this configuration. The caller closes it. */
  static ServerTracing open(TraceConfig config, String version) {
    return config.endpoint().isEmpty() ? OFF : OtlpTracing.open(config, version);
  }

  /** Traces starts that have just arrived, each until its answer. */
  void started(List<StartRequest> requests, List<CompletableFuture<StartResult>> answers);

  /** Traces tasks that are sent to a worker. */
  void dispatched(List<Task> tasks);

  /** Exports what is not exported yet, for at most this long. */
  void close(Duration timeout);
}
