package dev.kagzi.sdk.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.kagzi.sdk.Admin;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.NamespaceStats;
import dev.kagzi.sdk.QueueDepth;
import dev.kagzi.sdk.QueueInfo;
import dev.kagzi.sdk.RequestRefusedException;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkerEvent;
import dev.kagzi.sdk.WorkerInfo;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Counts, queues and workers through the client, on a real server. */
class AdminTest {
  private static final Duration SOON = Duration.ofSeconds(20);

  private static final WorkflowType<String, String> ECHO =
      WorkflowType.of("echo", String.class, String.class).queue("echoes");

  private static final WorkflowType<String, String> UNSERVED =
      WorkflowType.of("unserved", String.class, String.class).queue("lonely");

  private static RealServer server;

  @BeforeAll
  static void open() {
    server = new RealServer();
  }

  @AfterAll
  static void close() {
    server.close();
  }

  private static Kagzi client(String namespace) {
    return Kagzi.builder().address(server.address()).namespace(namespace).connect();
  }

  @Test
  void runs_queues_and_workers_are_counted() {
    try (Kagzi kagzi = client("counted")) {
      kagzi.workflow(UNSERVED).start("waits");
      try (Worker worker =
          kagzi.worker().workflow(ECHO, (ctx, text) -> text).maxConcurrent(7).start()) {
        assertThat(worker).isNotNull();
        kagzi.workflow(ECHO).start("x").result(SOON);
        await().atMost(SOON).until(() -> queue(kagzi, "echoes").totalSlots() == 7);

        NamespaceStats stats = kagzi.admin().stats();
        QueueInfo lonely = queue(kagzi, "lonely");

        assertThat(stats.runs()).isEqualTo(2);
        assertThat(stats.runsByStatus())
            .containsEntry(RunStatus.PENDING, 1L)
            .containsEntry(RunStatus.COMPLETED, 1L)
            .containsEntry(RunStatus.FAILED, 0L);
        assertThat(stats.runsByType()).containsOnlyKeys("echo", "unserved");
        assertThat(stats.onlineWorkers()).isEqualTo(1);
        assertThat(stats.workers()).isEqualTo(1);
        assertThat(stats.schedules()).isZero();
        assertThat(stats.enabledSchedules()).isZero();
        assertThat(queue(kagzi, "echoes"))
            .isEqualTo(new QueueInfo("echoes", 0, 0, 0, Optional.empty(), 1, 7, 7));
        assertThat(lonely.pendingRuns()).isEqualTo(1);
        assertThat(lonely.oldestDue()).isPresent();
        assertThat(lonely.onlineWorkers()).isZero();
        assertThat(kagzi.admin().queueDepth())
            .isEqualTo(new QueueDepth(1, 0, 0, Map.of("lonely", 1L)));
        assertThat(kagzi.admin().queueDepth("lonely").pendingRuns()).isEqualTo(1);
        assertThat(kagzi.admin().queueDepth("echoes")).isEqualTo(new QueueDepth(0, 0, 0, Map.of()));
      }
    }
  }

  private static QueueInfo queue(Kagzi kagzi, String name) {
    return kagzi
        .admin()
        .queues()
        .filter(queue -> queue.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void a_list_of_queues_has_all_its_pages() {
    try (Kagzi kagzi = client("many-queues")) {
      for (int i = 0; i < 120; i++) {
        kagzi.workflow(UNSERVED).queue("queue-%03d".formatted(i)).start("x");
      }

      List<String> names = kagzi.admin().queues().map(QueueInfo::name).toList();

      assertThat(names).hasSize(120).isSorted().startsWith("queue-000").endsWith("queue-119");
    }
  }

  @Test
  void a_worker_is_listed_and_forced_offline_with_its_events() {
    try (Kagzi kagzi = client("forced");
        Worker worker =
            kagzi.worker().workflow(ECHO, (ctx, text) -> text).label("zone", "a").start()) {
      assertThat(worker).isNotNull();
      Admin admin = kagzi.admin();
      await().atMost(SOON).until(() -> admin.workers().count() == 1);
      WorkerInfo found = admin.workers().findFirst().orElseThrow();
      assertThat(found.queue()).isEqualTo("echoes");
      assertThat(found.status()).isEqualTo(WorkerInfo.Status.ONLINE);
      assertThat(found.workflowTypes()).containsExactly("echo");
      assertThat(found.maxConcurrent()).contains(100);
      assertThat(found.labels()).containsEntry("zone", "a");
      assertThat(found.registeredAt()).isBeforeOrEqualTo(found.lastHeartbeatAt());

      int held = admin.forceWorkerOffline(found.workerId(), "host is gone");

      assertThat(held).isZero();
      List<WorkerEvent> events = admin.workerEvents(found.workerId()).toList();
      assertThat(events)
          .extracting(WorkerEvent::status)
          .containsExactly(WorkerInfo.Status.OFFLINE, WorkerInfo.Status.ONLINE);
      assertThat(events.get(0).reason()).contains("host is gone");
      assertThat(events.get(0).at()).isAfterOrEqualTo(events.get(1).at());
      assertThat(admin.drainWorker(found.workerId())).isFalse();
    }
  }

  @Test
  void a_drained_worker_gets_no_more_runs() {
    try (Kagzi kagzi = client("drained");
        Worker worker = kagzi.worker().workflow(ECHO, (ctx, text) -> text).start()) {
      assertThat(worker).isNotNull();
      Admin admin = kagzi.admin();
      await().atMost(SOON).until(() -> admin.workers().count() == 1);
      String id = admin.workers().findFirst().orElseThrow().workerId();

      assertThat(admin.drainWorker(id)).isTrue();

      assertThat(admin.workers().findFirst().orElseThrow().status())
          .isNotEqualTo(WorkerInfo.Status.ONLINE);
    }
  }

  @Test
  void a_worker_that_does_not_exist_is_refused() {
    try (Kagzi kagzi = client("default")) {
      assertThatExceptionOfType(RequestRefusedException.class)
          .isThrownBy(
              () -> kagzi.admin().forceWorkerOffline(UUID.randomUUID().toString(), "why not"))
          .satisfies(refused -> assertThat(refused.code()).isEqualTo("NOT_FOUND"));
    }
  }
}
