package dev.kagzi.cli;

import dev.kagzi.protocol.v1.GetHealthRequest;
import dev.kagzi.protocol.v1.GetHealthResponse;
import dev.kagzi.protocol.v1.HealthCheckRequest;
import dev.kagzi.protocol.v1.HealthCheckResponse;
import dev.kagzi.protocol.v1.HealthStatus;
import dev.kagzi.protocol.v1.ServingStatus;
import java.util.List;
import picocli.CommandLine.Command;
import tools.jackson.databind.node.ObjectNode;

@Command(
    name = "health",
    description = "Shows whether a server is ready, and the health of its database and workers.",
    footer = {"", "Exit code: 0 ready, 1 not ready, 4 no answer."})
final class HealthCommand extends RemoteCommand {

  @Override
  int run(RemoteServer server, Output output) {
    HealthCheckResponse serving =
        server.call(() -> server.admin().healthCheck(HealthCheckRequest.getDefaultInstance()));
    GetHealthResponse health =
        server.call(() -> server.admin().getHealth(GetHealthRequest.getDefaultInstance()));
    ObjectNode json = MessageJson.of(serving);
    ObjectNode healthJson = MessageJson.of(health);
    if (!knowsWorkers(health)) {
      healthJson.remove(
          List.of("workers", "healthyWorkers", "degradedWorkers", "unhealthyWorkers"));
    }
    json.set("health", healthJson);
    output.print(json, () -> text(serving, health));
    return serving.getStatus() == ServingStatus.SERVING_STATUS_SERVING
        ? ExitCode.DONE
        : ExitCode.FAILED;
  }

  private static String text(HealthCheckResponse serving, GetHealthResponse health) {
    return new Table()
        .row(
            "server",
            serving.getStatus().name().replaceFirst("^SERVING_STATUS_", ""),
            serving.getMessage())
        .row("all", name(health.getStatus()))
        .row(
            "database",
            name(health.getDatabase().getStatus()),
            health.getDatabase().getMessage(),
            health.getDatabase().getLatencyMs() + " ms")
        .row(
            "workers",
            knowsWorkers(health)
                ? "%d healthy, %d degraded, %d unhealthy"
                    .formatted(
                        health.getHealthyWorkers(),
                        health.getDegradedWorkers(),
                        health.getUnhealthyWorkers())
                : "not known")
        .text("");
  }

  /** The worker counts come from the database, so they are missing if it is unreachable. */
  private static boolean knowsWorkers(GetHealthResponse health) {
    return health.getDatabase().getStatus() != HealthStatus.HEALTH_STATUS_UNHEALTHY;
  }

  private static String name(HealthStatus status) {
    return status.name().replaceFirst("^HEALTH_STATUS_", "");
  }
}
