package dev.kagzi.spring;

import dev.kagzi.sdk.Kagzi;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/** Is up while a server answers, every worker is connected, and the outbox can be read. */
final class KagziHealthIndicator extends AbstractHealthIndicator {
  private final Kagzi kagzi;
  private final KagziWorkers workers;

  KagziHealthIndicator(Kagzi kagzi, KagziWorkers workers) {
    super("the health check of Kagzi failed");
    this.kagzi = kagzi;
    this.workers = workers;
  }

  @Override
  protected void doHealthCheck(Health.Builder builder) {
    KagziStatus status = KagziStatus.of(kagzi, workers);
    if (status.up()) {
      builder.up();
    } else {
      builder.down();
    }
    Exception error = status.error();
    if (error != null) {
      builder.withException(error);
    }
    builder.withDetails(status.details());
  }
}
