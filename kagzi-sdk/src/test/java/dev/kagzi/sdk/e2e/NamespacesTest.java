package dev.kagzi.sdk.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.NamespaceInfo;
import dev.kagzi.sdk.Namespaces;
import dev.kagzi.sdk.RequestRefusedException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunInfo;
import dev.kagzi.sdk.RunPage;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Namespaces and lists through the client, on a real server. */
class NamespacesTest {
  private static final WorkflowType<String, String> ECHO =
      WorkflowType.of("echo", String.class, String.class);

  private static RealServer server;

  @BeforeAll
  static void open() {
    server = new RealServer();
  }

  @AfterAll
  static void close() {
    server.close();
  }

  @Test
  void namespaces_are_created_described_listed_disabled_and_enabled() {
    try (Kagzi kagzi = Kagzi.connect(server.address());
        Kagzi tenant = Kagzi.builder().address(server.address()).namespace("tenant").connect()) {
      Namespaces namespaces = kagzi.namespaces();
      namespaces.create("tenant", "Tenant", "");

      assertThat(namespaces.describe("tenant", "Tenant", "What it is for").description())
          .isEqualTo("What it is for");
      assertThat(namespaces.retention("tenant", Duration.ofDays(3)).retention())
          .contains(Duration.ofDays(3));
      assertThat(namespaces.defaultRetention("tenant").retention()).isEmpty();
      assertThat(namespaces.list().map(NamespaceInfo::name)).contains("default", "tenant");

      RunHandle<String> run = tenant.workflow(ECHO).start("before");
      assertThat(namespaces.disable("tenant").enabled()).isFalse();
      assertThatExceptionOfType(RequestRefusedException.class)
          .isThrownBy(() -> tenant.workflow(ECHO).start("meanwhile"))
          .satisfies(refused -> assertThat(refused.code()).isEqualTo("NAMESPACE_DISABLED"));
      try (var worker = tenant.worker().workflow(ECHO, (ctx, text) -> text).start()) {
        assertThat(namespaces.enable("tenant").enabled()).isTrue();
        assertThat(run.result(Duration.ofSeconds(20))).isEqualTo("before");
        assertThat(worker).isNotNull();
      }
      assertThatExceptionOfType(RequestRefusedException.class)
          .isThrownBy(() -> namespaces.create("tenant"))
          .satisfies(refused -> assertThat(refused.code()).isEqualTo("ALREADY_EXISTS"));
      assertThatExceptionOfType(RequestRefusedException.class)
          .isThrownBy(() -> namespaces.get("nowhere"))
          .satisfies(refused -> assertThat(refused.code()).isEqualTo("NOT_FOUND"));
    }
  }

  @Test
  void lists_are_filtered_and_walked_in_both_directions() {
    try (Kagzi kagzi = Kagzi.builder().address(server.address()).namespace("listed").connect()) {
      List<String> ids = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        ids.add(0, kagzi.workflow(ECHO).id("run-" + i).start("x").runId());
      }
      kagzi.run(ids.get(4), ECHO).cancel();
      kagzi.run(ids.get(2), ECHO).terminate("enough");

      RunPage first = kagzi.list().pageSize(2).totalCount().page();
      RunPage second =
          kagzi.list().pageSize(2).pageToken(first.nextPageToken().orElseThrow()).page();
      RunPage back =
          kagzi.list().pageSize(2).pageToken(second.prevPageToken().orElseThrow()).page();

      assertThat(first.totalCount()).contains(5L);
      assertThat(first.prevPageToken()).isEmpty();
      assertThat(runIds(first)).isEqualTo(ids.subList(0, 2));
      assertThat(runIds(second)).isEqualTo(ids.subList(2, 4));
      assertThat(runIds(back)).isEqualTo(ids.subList(0, 2));
      assertThat(
              kagzi.list().status(RunStatus.CANCELLED, RunStatus.FAILED).stream()
                  .map(RunInfo::runId))
          .containsExactly(ids.get(2), ids.get(4));
      assertThat(kagzi.list().workflowId("run-3").stream().map(RunInfo::runId))
          .containsExactly(ids.get(1));
      assertThat(kagzi.list().version("2").stream()).isEmpty();
      assertThat(kagzi.list().parent(ids.get(0)).stream()).isEmpty();
    }
  }

  private static List<String> runIds(RunPage page) {
    return page.runs().stream().map(RunInfo::runId).toList();
  }
}
