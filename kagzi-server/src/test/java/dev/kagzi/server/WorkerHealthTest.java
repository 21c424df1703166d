package dev.kagzi.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.postgres.SharedPostgres;
import dev.kagzi.protocol.v1.DeregisterRequest;
import dev.kagzi.protocol.v1.ForceOfflineWorkerRequest;
import dev.kagzi.protocol.v1.GetHealthRequest;
import dev.kagzi.protocol.v1.GetHealthResponse;
import dev.kagzi.protocol.v1.HealthStatus;
import dev.kagzi.protocol.v1.WorkerHealth;
import dev.kagzi.protocol.v1.WorkerStatus;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** How health shows workers that are silent, dead, or offline. */
class WorkerHealthTest {
  private static final Duration SOON = Duration.ofSeconds(30);

  private static GetHealthResponse health(TestServer server) {
    return server.admin().getHealth(GetHealthRequest.newBuilder().setNamespace("default").build());
  }

  private static void silence(TestServer server, String worker, String time) throws SQLException {
    try (Connection connection = SharedPostgres.server().connect(server.database());
        Statement statement = connection.createStatement()) {
      statement.execute(
          "UPDATE kagzi.workers SET last_heartbeat_at = now() - interval '%s' WHERE worker_id = '%s'"
              .formatted(time, worker));
    }
  }

  @Test
  void a_silent_worker_is_degraded_and_then_unhealthy_and_so_is_the_overall_status()
      throws Exception {
    // The coordinator must not take silent workers offline during the test.
    EngineConfig idle = EngineConfig.defaults().withCoordinatorInterval(Duration.ofHours(1));
    try (TestServer server =
            TestServer.start(TestServer.createDatabase(), config -> config.engine(idle));
        BatchWorker prompt = new BatchWorker(server, "q", "t");
        BatchWorker late = new BatchWorker(server, "q", "t");
        BatchWorker silent = new BatchWorker(server, "q", "t")) {
      assertThat(health(server).getStatus()).isEqualTo(HealthStatus.HEALTH_STATUS_HEALTHY);

      silence(server, late.id, "8 seconds");
      GetHealthResponse one = health(server);
      silence(server, silent.id, "1 minute");
      GetHealthResponse two = health(server);

      assertThat(one.getStatus()).isEqualTo(HealthStatus.HEALTH_STATUS_DEGRADED);
      assertThat(one.getDegradedWorkers()).isEqualTo(1);
      assertThat(one.getUnhealthyWorkers()).isZero();
      assertThat(two.getStatus()).isEqualTo(HealthStatus.HEALTH_STATUS_DEGRADED);
      assertThat(two.getHealthyWorkers()).isEqualTo(1);
      assertThat(two.getDegradedWorkers()).isEqualTo(1);
      assertThat(two.getUnhealthyWorkers()).isEqualTo(1);
      assertThat(two.getWorkersList())
          .extracting(WorkerHealth::getWorkerId)
          .as("the most silent first")
          .containsExactly(silent.id, late.id, prompt.id);
      assertThat(two.getWorkersList())
          .extracting(WorkerHealth::getStatus)
          .containsExactly(
              HealthStatus.HEALTH_STATUS_UNHEALTHY,
              HealthStatus.HEALTH_STATUS_DEGRADED,
              HealthStatus.HEALTH_STATUS_HEALTHY);
      assertThat(two.getWorkers(0).getSilentMs()).isGreaterThanOrEqualTo(60_000);
      assertThat(two.getWorkers(0).getWorkerStatus()).isEqualTo(WorkerStatus.WORKER_STATUS_ONLINE);
      assertThat(two.getWorkers(0).getNamespace()).isEqualTo("default");
      assertThat(two.getWorkers(0).getTaskQueue()).isEqualTo("q");
    }
  }

  @Test
  void an_unreachable_database_makes_the_overall_status_unhealthy() throws Exception {
    try (TestServer server = TestServer.start()) {
      assertThat(health(server).getDatabase().getMessage()).isEmpty();
      allowConnections(server.database(), false);

      await()
          .atMost(SOON)
          .untilAsserted(
              () -> {
                GetHealthResponse health = health(server);
                assertThat(health.getStatus()).isEqualTo(HealthStatus.HEALTH_STATUS_UNHEALTHY);
                assertThat(health.getDatabase().getStatus())
                    .isEqualTo(HealthStatus.HEALTH_STATUS_UNHEALTHY);
                assertThat(health.getDatabase().getMessage()).isNotEmpty();
                assertThat(health.getDatabase().getLatencyMs()).isNotNegative();
              });

      allowConnections(server.database(), true);
      await()
          .atMost(SOON)
          .until(() -> health(server).getStatus() == HealthStatus.HEALTH_STATUS_HEALTHY);
    }
  }

  private static void allowConnections(String database, boolean allow) throws SQLException {
    try (Connection admin = SharedPostgres.server().connect("postgres");
        Statement statement = admin.createStatement()) {
      statement.execute("ALTER DATABASE " + database + " WITH ALLOW_CONNECTIONS " + allow);
      if (!allow) {
        statement.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"
                + database
                + "'");
      }
    }
  }

  @Test
  void a_worker_that_died_is_shown_for_as_long_as_its_runs_wait_for_it() throws Exception {
    try (TestServer server = TestServer.start();
        BatchWorker dead = new BatchWorker(server, "q", "t")) {
      server.startRun("q", "t");
      assertThat(dead.poll(1)).hasSize(1);
      silence(server, dead.id, "1 hour");

      await().atMost(SOON).untilAsserted(() -> assertShownAsDead(server, dead.id));
      try (BatchWorker other = new BatchWorker(server, "q", "t")) {
        assertThat(health(server).getWorkersList())
            .extracting(WorkerHealth::getWorkerId)
            .as("its runs wait for the other now")
            .containsExactly(other.id);
        server.workers().deregister(DeregisterRequest.newBuilder().setWorkerId(other.id).build());
        assertShownAsDead(server, dead.id);
      }
      try (BatchWorker last = new BatchWorker(server, "q", "t")) {
        last.report(BatchWorker.done(last.poll(1).get(0)));
        server.workers().deregister(DeregisterRequest.newBuilder().setWorkerId(last.id).build());
      }
      assertThat(health(server).getWorkersList()).as("nothing waits any more").isEmpty();
      assertThat(health(server).getStatus()).isEqualTo(HealthStatus.HEALTH_STATUS_HEALTHY);
    }
  }

  private static void assertShownAsDead(TestServer server, String worker) {
    GetHealthResponse health = health(server);
    assertThat(health.getWorkersList())
        .extracting(WorkerHealth::getWorkerId)
        .containsExactly(worker);
    assertThat(health.getWorkers(0).getWorkerStatus())
        .isEqualTo(WorkerStatus.WORKER_STATUS_OFFLINE);
    assertThat(health.getWorkers(0).getStatus()).isEqualTo(HealthStatus.HEALTH_STATUS_UNHEALTHY);
    assertThat(health.getUnhealthyWorkers()).isEqualTo(1);
    assertThat(health.getStatus()).isEqualTo(HealthStatus.HEALTH_STATUS_DEGRADED);
  }

  @Test
  void a_worker_that_left_by_itself_is_not_shown_and_one_of_any_version_that_died_is() {
    try (TestServer server = TestServer.start();
        BatchWorker left = new BatchWorker(server, "q", "t");
        BareWorker simple = new BareWorker(server, "q2", "host", 1, "t")) {
      server.startRun("q", "t");
      server.startRun("q2", "t");
      assertThat(left.poll(1)).hasSize(1);
      assertThat(simple.poll().getRunId()).isNotEmpty();

      server.workers().deregister(DeregisterRequest.newBuilder().setWorkerId(left.id).build());
      server
          .admin()
          .forceOfflineWorker(
              ForceOfflineWorkerRequest.newBuilder().setWorkerId(simple.id()).build());

      await().atMost(SOON).untilAsserted(() -> assertShownAsDead(server, simple.id()));
    }
  }
}
