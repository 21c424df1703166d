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

/** Keeps gRPC's own health service telling the truth: SERVING only while the server is ready. */
final class ServingState {
  private static final Logger log = LoggerFactory.getLogger(ServingState.class);
  private static final long LOOK_SECONDS = 5;

  private final HealthStatusManager health = new HealthStatusManager();
  private final Supplier<Optional<String>> trouble;
  private final Set<String> services;
  private final AtomicBoolean looking = new AtomicBoolean();
  private volatile boolean serving;

  ServingState(Supplier<Optional<String>> trouble, Set<String> services) {
    this.trouble = trouble;
    this.services = Set.copyOf(services);
    tell(ServingStatus.NOT_SERVING);
  }

  BindableService service() {
    return health.getHealthService();
  }

  /** Looks now and from time to time. */
  void watch(ScheduledExecutorService timer) {
    look();
    timer.scheduleWithFixedDelay(
        () -> Thread.ofVirtual().name("kagzi-health").start(this::look),
        LOOK_SECONDS,
        LOOK_SECONDS,
        TimeUnit.SECONDS);
  }

  private void look() {
    if (!looking.compareAndSet(false, true)) {
      return;
    }
    try {
      Optional<String> reason = trouble.get();
      if (serving == reason.isEmpty()) {
        return;
      }
      serving = reason.isEmpty();
      tell(serving ? ServingStatus.SERVING : ServingStatus.NOT_SERVING);
      // The engine has logged that its database is away.
      reason.ifPresent(
          why -> log.atDebug().addKeyValue("reason", why).log("server is not ready any more"));
    } finally {
      looking.set(false);
    }
  }

  private void tell(ServingStatus status) {
    health.setStatus(HealthStatusManager.SERVICE_NAME_ALL_SERVICES, status);
    for (String service : services) {
      health.setStatus(service, status);
    }
  }

  /** Not serving, for good. */
  void stop() {
    health.enterTerminalState();
  }
}
