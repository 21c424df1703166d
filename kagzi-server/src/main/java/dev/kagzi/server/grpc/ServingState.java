package dev.kagzi.server.grpc;

import io.grpc.BindableService;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.protobuf.services.HealthStatusManager;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps gRPC's health service up to date: SERVING only while the server is ready. */
final class ServingState {
  private static final Logger log = LoggerFactory.getLogger(ServingState.class);
  private static final long CHECK_SECONDS = 5;

  private final HealthStatusManager health = new HealthStatusManager();
  private final Supplier<Optional<String>> notReadyReason;
  private final Set<String> services;
  private final AtomicBoolean checking = new AtomicBoolean();
  private volatile boolean serving;

  ServingState(Supplier<Optional<String>> notReadyReason, Set<String> services) {
    this.notReadyReason = notReadyReason;
    this.services = Set.copyOf(services);
    publish(ServingStatus.NOT_SERVING);
  }

  BindableService service() {
    return health.getHealthService();
  }

  void watch(ScheduledExecutorService timer) {
    check();
    timer.scheduleWithFixedDelay(
        () -> Thread.ofVirtual().name("kagzi-health").start(this::check),
        CHECK_SECONDS,
        CHECK_SECONDS,
        TimeUnit.SECONDS);
  }

  private void check() {
    if (!checking.compareAndSet(false, true)) {
      return;
    }
    try {
      Optional<String> reason = notReadyReason.get();
      if (serving == reason.isEmpty()) {
        return;
      }
      serving = reason.isEmpty();
      publish(serving ? ServingStatus.SERVING : ServingStatus.NOT_SERVING);
      // Only DEBUG: the engine has logged that its database is unreachable.
      reason.ifPresent(
          why -> log.atDebug().addKeyValue("reason", why).log("server is not ready any more"));
    } finally {
      checking.set(false);
    }
  }

  private void publish(ServingStatus status) {
    health.setStatus(HealthStatusManager.SERVICE_NAME_ALL_SERVICES, status);
    for (String service : services) {
      health.setStatus(service, status);
    }
  }

  void stop() {
    health.enterTerminalState();
  }
}
