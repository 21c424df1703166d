package dev.kagzi.server;

import static dev.kagzi.server.BatchWorker.done;
import static dev.kagzi.server.BatchWorker.item;
import static dev.kagzi.server.TestServer.payload;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.protocol.v1.GetPublishedRequest;
import dev.kagzi.protocol.v1.GetPublishedResponse;
import dev.kagzi.protocol.v1.PublishedValue;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportItem.ValuesPublished;
import dev.kagzi.protocol.v1.ReportItem.ValuesPublished.NewValue;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.protocol.v1.WorkflowStatus;
import io.grpc.Status;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The report and the call about published values, field by field. */
class PublishedCallsTest {
  private static TestServer server;

  @BeforeAll
  static void startServer() {
    server = TestServer.start();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  private static NewValue.Builder value(String name, int number, String json) {
    return NewValue.newBuilder()
        .setName(name)
        .setScope("")
        .setSequence(number)
        .setOrder(number)
        .setValue(payload(json));
  }

  private static ReportItem.Builder published(Task task, NewValue.Builder value) {
    return item(task).setValuesPublished(ValuesPublished.newBuilder().addValues(value));
  }

  private static GetPublishedRequest.Builder request(String run) {
    return GetPublishedRequest.newBuilder().setNamespace("default").setRunId(run);
  }

  private static GetPublishedResponse get(GetPublishedRequest.Builder request) {
    return server.workflows().getPublished(request.build());
  }

  @Test
  void values_are_read_by_name_and_by_version() {
    String run = server.startRun("published", "order");
    assertThat(get(request(run)).getValuesList()).isEmpty();
    assertThat(get(request(run)).getStatus()).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_PENDING);
    try (BatchWorker worker = new BatchWorker(server, "published", "order")) {
      Task task = worker.poll(1).get(0);
      ValuesPublished both =
          ValuesPublished.newBuilder()
              .addValues(value("progress", 1, "1"))
              .addValues(value("state", 1, "\"a\"").setOrder(2).setScope("p[a]/"))
              .build();

      assertThat(worker.report(item(task).setValuesPublished(both)).get(0).hasAccepted()).isTrue();
      assertThat(worker.report(published(task, value("progress", 1, "2"))).get(0).hasAccepted())
          .isTrue();

      GetPublishedResponse all = get(request(run));
      assertThat(all.getStatus()).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_RUNNING);
      PublishedValue progress = all.getValues(0);
      assertThat(progress.getName()).isEqualTo("progress");
      assertThat(progress.getValue()).isEqualTo(payload("1"));
      assertThat(progress.getPublishedAt().getSeconds()).isPositive();
      assertThat(all.getValues(1).getVersion()).isEqualTo(progress.getVersion() + 1);
      assertThat(get(request(run).setName("state")).getValuesList())
          .containsExactly(all.getValues(1));
      assertThat(get(request(run).setAfterVersion(progress.getVersion())).getValuesList())
          .containsExactly(all.getValues(1));
      worker.report(done(task));
    }
  }

  @Test
  void a_long_poll_returns_with_a_later_value_with_the_end_and_when_its_time_is_over()
      throws Exception {
    String run = server.startRun("followed", "order");
    try (BatchWorker worker = new BatchWorker(server, "followed", "order")) {
      Task task = worker.poll(1).get(0);
      GetPublishedRequest.Builder waits = request(run).setName("progress").setWaitMs(20_000);
      CompletableFuture<GetPublishedResponse> first =
          CompletableFuture.supplyAsync(() -> get(waits.clone()));

      assertThat(get(waits.clone().setWaitMs(50)).getValuesList()).isEmpty();
      worker.report(published(task, value("progress", 1, "1")));
      PublishedValue value = first.get(20, TimeUnit.SECONDS).getValues(0);
      CompletableFuture<GetPublishedResponse> end =
          CompletableFuture.supplyAsync(
              () -> get(waits.clone().setAfterVersion(value.getVersion())));
      worker.report(done(task));

      assertThat(value.getValue()).isEqualTo(payload("1"));
      assertThat(end.get(20, TimeUnit.SECONDS).getValuesList()).isEmpty();
      assertThat(end.get().getStatus()).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_COMPLETED);
    }
  }

  @Test
  void invalid_requests_and_values_are_refused() {
    String unknown = UUID.randomUUID().toString();
    for (long waitMs : List.of(0L, 10_000L)) {
      assertThat(
              CallErrors.refused(
                      Status.Code.NOT_FOUND, () -> get(request(unknown).setWaitMs(waitMs)))
                  .getMessage())
          .contains("run not found");
    }
    CallErrors.refused(
        Status.Code.INVALID_ARGUMENT, () -> get(request(unknown).setAfterVersion(-1)));
    CallErrors.refused(Status.Code.INVALID_ARGUMENT, () -> get(request(unknown).setWaitMs(-1)));
    String run = server.startRun("refused", "order");
    CallErrors.refused(
        Status.Code.INVALID_ARGUMENT, () -> get(request(run).setName("a\0b").setWaitMs(20_000)));

    server.startRun("refused", "order");
    try (BatchWorker worker = new BatchWorker(server, "refused", "order")) {
      Task task = worker.poll(1).get(0);
      NewValue.Builder large = value("large", 1, "\"" + "x".repeat(70_000) + "\"");
      assertThat(worker.report(published(task, large)).get(0).getRefused().getMessage())
          .isEqualTo("published[large]: 70030 bytes (expected: at most 65536 bytes)");
      worker.report(done(task));
    }
  }
}
