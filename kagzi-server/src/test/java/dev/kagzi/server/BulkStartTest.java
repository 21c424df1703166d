package dev.kagzi.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.Shard;
import dev.kagzi.protocol.v1.CreateNamespaceRequest;
import dev.kagzi.protocol.v1.DisableNamespaceRequest;
import dev.kagzi.protocol.v1.ErrorCode;
import dev.kagzi.protocol.v1.StartResult;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.StartWorkflowsRequest;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class BulkStartTest {
  private static TestServer server;

  @BeforeAll
  static void startServer() {
    server = TestServer.start();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  @Test
  void each_start_of_a_bulk_has_its_own_result_in_order() {
    String known =
        server
            .workflows()
            .startWorkflow(TestServer.start("bulk", "order").setExternalId("known").build())
            .getRunId();
    String chosen = UUID.randomUUID().toString();

    List<StartResult> results =
        server
            .workflows()
            .startWorkflows(
                StartWorkflowsRequest.newBuilder()
                    .addStarts(TestServer.start("bulk", "order").setRunId(chosen))
                    .addStarts(TestServer.start("bulk", "order").setRunId("rubbish"))
                    .addStarts(TestServer.start("bulk", "order").setExternalId("known"))
                    .addStarts(TestServer.start("", "order"))
                    .addStarts(TestServer.start("bulk", "order").setPriority(3))
                    .addStarts(TestServer.start("bulk", "order").setNamespace("nowhere"))
                    .addStarts(TestServer.start("bulk", "order"))
                    .build())
            .getResultsList();

    assertThat(results).hasSize(7);
    assertThat(results.get(0).getStarted().getRunId()).isEqualTo(chosen);
    assertThat(results.get(0).getStarted().getAlreadyExists()).isFalse();
    assertThat(results.get(1).getRefused().getMessage()).contains("run_id").contains("rubbish");
    assertThat(results.get(2).getStarted().getRunId()).isEqualTo(known);
    assertThat(results.get(2).getStarted().getAlreadyExists()).isTrue();
    assertThat(results.get(3).getRefused().getCode())
        .isEqualTo(ErrorCode.ERROR_CODE_INVALID_ARGUMENT);
    assertThat(results.get(4).getRefused().getMessage()).contains("priority");
    assertThat(results.get(5).getRefused().getCode()).isEqualTo(ErrorCode.ERROR_CODE_NOT_FOUND);
    assertThat(results.get(6).hasStarted()).isTrue();
    assertThat(server.run(results.get(6).getStarted().getRunId()).getTaskQueue()).isEqualTo("bulk");
  }

  @Test
  void an_empty_bulk_has_no_results() {
    assertThat(
            server
                .workflows()
                .startWorkflows(StartWorkflowsRequest.getDefaultInstance())
                .getResultsCount())
        .isZero();
  }

  @Test
  void a_start_sent_twice_with_a_run_id_of_the_callers_is_one_run() {
    String chosen = UUID.randomUUID().toString();

    String first =
        server
            .workflows()
            .startWorkflow(TestServer.start("bulk", "once").setRunId(chosen).build())
            .getRunId();
    String second =
        server
            .workflows()
            .startWorkflow(TestServer.start("bulk", "once").setRunId(chosen).build())
            .getRunId();

    assertThat(first).isEqualTo(chosen);
    assertThat(second).isEqualTo(chosen);
  }

  @Test
  void a_bulk_that_is_sent_again_after_its_namespace_was_disabled_is_answered_the_same() {
    String namespace = "shut";
    server
        .namespaces()
        .createNamespace(CreateNamespaceRequest.newBuilder().setNamespace(namespace).build());
    String chosen = RunId.next(Shard.of(namespace, "mine")).toString();
    StartWorkflowRequest.Builder start = TestServer.start("bulk", "order").setNamespace(namespace);
    start.setExternalId("mine");
    StartWorkflowsRequest bulk =
        StartWorkflowsRequest.newBuilder()
            .addStarts(start.clone().setRunId(chosen))
            .addStarts(start.clone().setExternalId(""))
            .build();
    List<StartResult> first = server.workflows().startWorkflows(bulk).getResultsList();
    server
        .namespaces()
        .disableNamespace(DisableNamespaceRequest.newBuilder().setNamespace(namespace).build());

    List<StartResult> again = server.workflows().startWorkflows(bulk).getResultsList();

    assertThat(first).allMatch(StartResult::hasStarted);
    assertThat(again.get(0)).isEqualTo(first.get(0));
    assertThat(again.get(1).getRefused().getMetadataOrThrow("code"))
        .isEqualTo("NAMESPACE_DISABLED");
    assertThatThrownBy(() -> server.workflows().startWorkflow(start.build()))
        .hasMessageContaining("is disabled");
  }
}
