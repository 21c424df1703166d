package dev.kagzi.spring;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.KagziException;
import dev.kagzi.sdk.PingResult;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.jdbc.OutboxRelay;
import dev.kagzi.sdk.jdbc.RelayProblem;
import dev.kagzi.sdk.jdbc.RelayProblem.Kind;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The content of the health indicator, without types of a certain version of Spring Boot.
 *
 * @param error why the server did not answer, if it did not
 */
record KagziStatus(boolean up, Map<String, Object> details, @Nullable Exception error) {
  /** A health check must not wait as long as a call may. */
  private static final Duration TIMEOUT = Duration.ofSeconds(3);

  static KagziStatus of(Kagzi kagzi, KagziWorkers workers) {
    Map<String, Object> details = new LinkedHashMap<>();
    Exception error = null;
    try {
      PingResult server = kagzi.ping(TIMEOUT);
      details.put("server", server.address());
      details.put("version", server.serverVersion());
    } catch (KagziException e) {
      error = e;
    }
    boolean connected = true;
    Map<String, String> queues = new LinkedHashMap<>();
    for (Map.Entry<String, Worker> each : workers.workers().entrySet()) {
      Worker worker = each.getValue();
      connected &= worker.isConnected();
      queues.put(
          each.getKey(),
          (worker.isConnected() ? "connected, " : "not connected, ")
              + activeRuns(worker.activeCount()));
    }
    details.put("workers", queues);
    boolean readable = true;
    Map<String, Object> outboxes = new LinkedHashMap<>();
    for (OutboxRelay relay : kagzi.relays()) {
      List<RelayProblem> problems = relay.problems();
      int number = outboxes.size() + 1;
      outboxes.put(number == 1 ? "outbox" : "outbox-" + number, outbox(relay, problems));
      readable &= problems.stream().noneMatch(each -> each.kind() == Kind.OUTBOX_UNREADABLE);
    }
    details.putAll(outboxes);
    return new KagziStatus(error == null && connected && readable, details, error);
  }

  /**
   * Returns the details of one outbox. A message that the server refuses is shown here, but does
   * not make the application unhealthy.
   */
  private static Object outbox(OutboxRelay relay, List<RelayProblem> problems) {
    Map<String, Object> outbox = new LinkedHashMap<>();
    outbox.put("sent", relay.sent());
    for (RelayProblem each : problems) {
      outbox.put(
          each.kind().name(),
          "%d since %s, %s".formatted(each.count(), each.since(), each.reason()));
    }
    return outbox;
  }

  private static String activeRuns(int count) {
    return count == 1 ? "1 active run" : count + " active runs";
  }
}
