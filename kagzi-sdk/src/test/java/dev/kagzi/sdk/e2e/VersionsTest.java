package dev.kagzi.sdk.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.protocol.v1.ListWorkflowTypesRequest;
import dev.kagzi.protocol.v1.WorkflowTypeInfo;
import dev.kagzi.sdk.InvalidArgumentException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** Several versions of one workflow type. */
class VersionsTest extends RealServerTest {
  private WorkflowType<String, String> versioned;

  @BeforeEach
  void name(TestInfo test) {
    versioned =
        WorkflowType.of(test.getTestMethod().orElseThrow().getName(), String.class, String.class)
            .queue(queue);
  }

  private Worker serve(String... versions) {
    var worker = kagzi.worker();
    for (String version : versions) {
      worker.workflow(
          version.isEmpty() ? versioned : versioned.version(version),
          (ctx, name) -> {
            ctx.sleep("nap", Duration.ofMillis(5));
            return ctx.version() + "/" + version;
          });
    }
    return worker.start();
  }

  private WorkflowTypeInfo info() {
    return server
        .admin()
        .listWorkflowTypes(ListWorkflowTypesRequest.newBuilder().setNamespace("default").build())
        .getWorkflowTypesList()
        .stream()
        .filter(type -> type.getWorkflowType().equals(versioned.name()))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void one_worker_serves_several_versions_and_each_run_has_its_own() {
    serve("", "1", "2");

    assertThat(kagzi.workflow(versioned).start("Ada").result(SOON)).isEqualTo("/");
    assertThat(kagzi.workflow(versioned.version("1")).start("Ada").result(SOON)).isEqualTo("1/1");
    assertThat(kagzi.setDefaultVersion(versioned.version("2"))).isEmpty();
    assertThat(kagzi.workflow(versioned).start("Ada").result(SOON)).isEqualTo("2/2");
    assertThat(kagzi.workflow(versioned.version("1")).start("Ada").result(SOON)).isEqualTo("1/1");
    assertThat(info().getDefaultVersion()).isEqualTo("2");
    assertThat(kagzi.setDefaultVersion(versioned)).isEqualTo("2");
    assertThat(kagzi.workflow(versioned).start("Ada").result(SOON)).isEqualTo("/");
  }

  @Test
  void runs_of_a_version_that_nobody_serves_wait_and_are_counted() {
    serve("1");
    RunHandle<String> waits = kagzi.workflow(versioned.version("2")).start("Ada");
    RunHandle<String> runs = kagzi.workflow(versioned.version("1")).start("Ada");

    assertThat(runs.result(SOON)).isEqualTo("1/1");
    assertThat(waits.info().status()).isEqualTo(RunStatus.PENDING);
    await().atMost(SOON).until(() -> info().getActiveRunsByVersionOrDefault("2", 0) == 1);

    serve("2");
    assertThat(waits.result(SOON)).isEqualTo("2/2");
    await().atMost(SOON).until(() -> !info().getActiveRunsByVersionMap().containsKey("2"));
  }

  /** Two workers with different versions and one with only the old version, all under load. */
  @Test
  void a_default_that_changes_under_load_moves_new_runs_only() throws Exception {
    serve("1");
    serve("2");
    serve("1");
    kagzi.setDefaultVersion(versioned.version("1"));
    RunHandle<String> before = kagzi.workflow(versioned).start("before");
    AtomicBoolean changed = new AtomicBoolean();
    CountDownLatch some = new CountDownLatch(50);
    List<RunHandle<String>> early = new ArrayList<>();
    List<RunHandle<String>> late = new ArrayList<>();
    Thread load =
        Thread.ofVirtual()
            .start(
                () -> {
                  for (int i = 0; i < 400; i++) {
                    boolean after = changed.get();
                    (after ? late : early).add(kagzi.workflow(versioned).start("" + i));
                    some.countDown();
                  }
                });

    some.await();
    kagzi.setDefaultVersion(versioned.version("2"));
    changed.set(true);
    load.join(Duration.ofSeconds(30));

    assertThat(before.result(SOON)).isEqualTo("1/1");
    Map<String, Integer> results = new HashMap<>();
    early.forEach(run -> results.merge(run.result(SOON), 1, Integer::sum));
    assertThat(results.keySet()).contains("1/1").isSubsetOf("1/1", "2/2");
    assertThat(late).isNotEmpty().allSatisfy(run -> assertThat(run.result(SOON)).isEqualTo("2/2"));
  }

  @Test
  void a_type_is_registered_once_in_each_version() {
    assertThatThrownBy(() -> serve("1", "1"))
        .isInstanceOfSatisfying(
            InvalidArgumentException.class, e -> assertThat(e.code()).isEqualTo("DUPLICATE_TYPE"));
  }
}
