package dev.kagzi.server;

import static dev.kagzi.server.BatchWorker.done;
import static dev.kagzi.server.BatchWorker.item;
import static dev.kagzi.server.TestServer.payload;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.protocol.v1.BeginStepRequest;
import dev.kagzi.protocol.v1.IdConflictPolicy;
import dev.kagzi.protocol.v1.ListSignalsRequest;
import dev.kagzi.protocol.v1.ListSignalsResponse;
import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.protocol.v1.Signal;
import dev.kagzi.protocol.v1.SignalOrStartWorkflowRequest;
import dev.kagzi.protocol.v1.SignalOrStartWorkflowResponse;
import dev.kagzi.protocol.v1.SignalWorkflowRequest;
import dev.kagzi.protocol.v1.SignalWorkflowResponse;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.protocol.v1.Task;
import io.grpc.Status;
import java.util.List;
import java.util.UUID;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The calls and reports about signals, field by field. */
class SignalCallsTest {
  private static TestServer server;

  @BeforeAll
  static void startServer() {
    server = TestServer.start();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  private static SignalWorkflowRequest.Builder signal(String run, String id) {
    return SignalWorkflowRequest.newBuilder()
        .setNamespace("default")
        .setRunId(run)
        .setName("approval")
        .setPayload(payload("\"" + id + "\""))
        .setSignalId(id);
  }

  private static ReportItem.Builder receive(Task task, String key) {
    return item(task)
        .setReceive(
            ReportItem.ReceiveStarted.newBuilder().setStepKey(key).setSignalName("approval"));
  }

  private static void assertRefused(Status.Code code, String text, ThrowingCallable call) {
    assertThat(CallErrors.refused(code, call).getMessage()).contains(text);
  }

  private static ListSignalsResponse signals(String run, boolean buffered) {
    return server
        .workflows()
        .listSignals(
            ListSignalsRequest.newBuilder()
                .setNamespace("default")
                .setRunId(run)
                .setPage(PageRequest.newBuilder().setPageSize(1).setIncludeTotalCount(true))
                .setBuffered(buffered)
                .build());
  }

  @Test
  void a_signal_is_received_and_listed_with_its_step() {
    String run = server.startRun("signals", "order");
    SignalWorkflowResponse sent = server.workflows().signalWorkflow(signal(run, "one").build());
    SignalWorkflowResponse named =
        server.workflows().signalWorkflow(signal(run, "").clearSignalId().build());
    try (BatchWorker worker = new BatchWorker(server, "signals", "order")) {
      Task task = worker.poll(1).get(0);

      ReportResult received = worker.report(receive(task, "approval")).get(0);
      Signal listed = signals(run, false).getSignals(0);
      ListSignalsResponse buffered = signals(run, true);

      assertThat(sent.getSignalId()).isEqualTo("one");
      assertThat(named.getSignalId()).isNotEmpty();
      assertThat(received.getReceived().getOutput()).isEqualTo(payload("\"one\""));
      assertThat(received.getReceived().getKind()).isEqualTo(StepKind.STEP_KIND_SIGNAL);
      assertThat(listed.getNumber()).isEqualTo(1);
      assertThat(listed.getSignalId()).isEqualTo("one");
      assertThat(listed.getName()).isEqualTo("approval");
      assertThat(listed.getPayload()).isEqualTo(payload("\"one\""));
      assertThat(listed.getSentAt().getSeconds()).isPositive();
      assertThat(listed.getReceivedAt().getSeconds()).isPositive();
      assertThat(listed.getStepKey()).isEqualTo("approval");
      assertThat(signals(run, false).getPage().getTotalCount()).isEqualTo(2);
      assertThat(buffered.getSignalsList()).hasSize(1);
      assertThat(buffered.getSignals(0).hasReceivedAt()).isFalse();
      assertThat(buffered.getSignals(0).hasStepKey()).isFalse();
      assertThat(server.run(run).getBufferedSignals()).isEqualTo(1);
      worker.report(done(task));
    }
  }

  @Test
  void a_receive_waits_until_its_timeout_and_times_out() {
    server.startRun("timeouts", "order");
    try (BatchWorker worker = new BatchWorker(server, "timeouts", "order")) {
      Task task = worker.poll(1).get(0);
      ReportItem.Builder waits = receive(task, "approval");
      waits.getReceiveBuilder().setTimeoutMs(60_000).setKeepClaim(true);
      ReportItem.Builder now = receive(task, "approval#2");
      now.getReceiveBuilder().setTimeoutMs(0);

      List<ReportResult> results = worker.report(waits, now);

      assertThat(results.get(0).getReceiving().getRemainingMs()).isBetween(1L, 60_000L);
      assertThat(results.get(0).getReceiving().getClaimKept()).isTrue();
      assertThat(results.get(1).getReceived().getTimedOut()).isTrue();
      worker.report(done(task));
    }
  }

  @Test
  void what_a_stopped_branch_received_is_received_again() {
    String run = server.startRun("stopped", "order");
    server.workflows().signalWorkflow(signal(run, "one").build());
    try (BatchWorker worker = new BatchWorker(server, "stopped", "order")) {
      Task task = worker.poll(1).get(0);
      worker.report(receive(task, "race[a]/approval"));

      List<ReportResult> results =
          worker.report(
              item(task)
                  .setReceivesStopped(
                      ReportItem.ReceivesStopped.newBuilder().addScopes("race[a]/")),
              receive(task, "approval"));

      assertThat(results.get(0).hasAccepted()).isTrue();
      RecordedStep again = results.get(1).getReceived();
      assertThat(again.getStepKey()).isEqualTo("approval");
      assertThat(again.getOutput()).isEqualTo(payload("\"one\""));
      ReportResult refused =
          worker
              .report(
                  item(task)
                      .setReceivesStopped(
                          ReportItem.ReceivesStopped.newBuilder().addScopes("race")))
              .get(0);
      assertThat(refused.getRefused().getMessage()).contains("scope: race (expected:");
      worker.report(done(task));
    }
  }

  @Test
  void the_winner_of_a_race_is_recorded_with_the_end_of_the_other_branches() {
    String run = server.startRun("winner", "order");
    server.workflows().signalWorkflow(signal(run, "one").build());
    try (BatchWorker worker = new BatchWorker(server, "winner", "order")) {
      Task task = worker.poll(1).get(0);
      worker.report(receive(task, "race[a]/approval"));
      ReportItem.StepDone winner =
          ReportItem.StepDone.newBuilder()
              .setStepKey("race")
              .setAttempt(1)
              .setKind(StepKind.STEP_KIND_FUNCTION)
              .setOutput(payload("\"b\""))
              .build();

      ReportResult result =
          worker
              .report(
                  item(task)
                      .setReceivesStopped(
                          ReportItem.ReceivesStopped.newBuilder()
                              .addScopes("race[a]/")
                              .setWinner(winner)))
              .get(0);

      assertThat(result.hasAccepted()).isTrue();
      worker.report(item(task).setReleased(ReportItem.Released.getDefaultInstance()));
      Task again = worker.poll(1).get(0);
      assertThat(again.getStepsList())
          .extracting(RecordedStep::getStepKey)
          .containsExactlyInAnyOrder("race", "race[a]/approval");
      assertThat(worker.report(receive(again, "approval")).get(0).getReceived().getOutput())
          .isEqualTo(payload("\"one\""));
      worker.report(done(again));
    }
  }

  @Test
  void a_signal_starts_the_run_or_reaches_the_open_one() {
    String id = UUID.randomUUID().toString();
    StartWorkflowRequest start = TestServer.start("starts", "order").setExternalId(id).build();
    SignalOrStartWorkflowRequest.Builder request =
        SignalOrStartWorkflowRequest.newBuilder()
            .setStart(start)
            .setName("approval")
            .setPayload(payload("1"))
            .setSignalId("e1");

    SignalOrStartWorkflowResponse first = server.workflows().signalOrStartWorkflow(request.build());
    SignalOrStartWorkflowResponse second =
        server.workflows().signalOrStartWorkflow(request.setSignalId("e2").build());

    assertThat(first.getStarted()).isTrue();
    assertThat(second.getStarted()).isFalse();
    assertThat(second.getRunId()).isEqualTo(first.getRunId());
    assertThat(second.getSignalId()).isEqualTo("e2");
    assertThat(signals(first.getRunId(), true).getPage().getTotalCount()).isEqualTo(2);
    assertRefused(
        Status.Code.INVALID_ARGUMENT,
        "external_id",
        () ->
            server
                .workflows()
                .signalOrStartWorkflow(
                    request.setStart(start.toBuilder().clearExternalId()).build()));
    assertRefused(
        Status.Code.INVALID_ARGUMENT,
        "id_conflict_policy",
        () ->
            server
                .workflows()
                .signalOrStartWorkflow(
                    request
                        .setStart(
                            start.toBuilder()
                                .setIdConflictPolicy(IdConflictPolicy.ID_CONFLICT_POLICY_REJECT))
                        .build()));
  }

  @Test
  void a_simple_client_can_begin_no_step_of_this_kind() {
    String run = server.startRun("simple", "order");

    assertRefused(
        Status.Code.INVALID_ARGUMENT,
        "report a receive instead",
        () ->
            server
                .workers()
                .beginStep(
                    BeginStepRequest.newBuilder()
                        .setRunId(run)
                        .setStepName("approval")
                        .setKind(StepKind.STEP_KIND_SIGNAL)
                        .build()));
  }
}
