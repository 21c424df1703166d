package dev.kagzi.server;

import static dev.kagzi.server.BatchWorker.done;
import static dev.kagzi.server.BatchWorker.item;
import static dev.kagzi.server.TestServer.payload;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.protocol.v1.AnswerCallbackRequest;
import dev.kagzi.protocol.v1.AnswerCallbackResponse;
import dev.kagzi.protocol.v1.BeginStepRequest;
import dev.kagzi.protocol.v1.CallbackFailure;
import dev.kagzi.protocol.v1.GetHistoryRequest;
import dev.kagzi.protocol.v1.ListStepsRequest;
import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.protocol.v1.Step;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.protocol.v1.Task;
import io.grpc.Status;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The calls and reports about callbacks, field by field. */
class CallbackCallsTest {
  private static TestServer server;

  @BeforeAll
  static void startServer() {
    server =
        TestServer.start(TestServer.createDatabase(), config -> config.localCallbacks("a secret"));
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  static ReportItem.Builder callback(Task task, String key) {
    return item(task).setCallback(ReportItem.CallbackStarted.newBuilder().setStepKey(key));
  }

  private static ReportItem.Builder waits(Task task) {
    return item(task)
        .setReceive(
            ReportItem.ReceiveStarted.newBuilder()
                .setStepKey("await:payment")
                .setSignalName("callback:payment")
                .setKeepClaim(true));
  }

  private static AnswerCallbackRequest.Builder answer(Task task) {
    return AnswerCallbackRequest.newBuilder()
        .setNamespace("default")
        .setRunId(task.getRunId())
        .setStepKey("payment");
  }

  private static void assertRefused(Status.Code code, String text, ThrowingCallable call) {
    assertThat(CallErrors.refused(code, call).getMessage()).contains(text);
  }

  @Test
  void a_callback_has_the_same_url_wherever_a_worker_gets_it_and_nobody_else_gets_it() {
    String run = server.startRun("urls", "order");
    try (BatchWorker worker = new BatchWorker(server, "urls", "order")) {
      Task task = worker.poll(1).get(0);

      RecordedStep made = worker.report(callback(task, "payment")).get(0).getAlreadyRecorded();
      ReportResult again = worker.report(callback(task, "payment")).get(0);
      RecordedStep streamed =
          server
              .workers()
              .getHistory(
                  GetHistoryRequest.newBuilder().setRunId(run).setEpoch(task.getEpoch()).build())
              .next()
              .getSteps(0);
      worker.report(item(task).setReleased(ReportItem.Released.getDefaultInstance()));
      Task next = worker.poll(1).get(0);

      assertThat(made.getKind()).isEqualTo(StepKind.STEP_KIND_CALLBACK);
      assertThat(made.getCallbackUrl())
          .startsWith("http://127.0.0.1:" + server.server().httpPort() + "/callbacks/");
      assertThat(again.getAlreadyRecorded().getCallbackUrl()).isEqualTo(made.getCallbackUrl());
      assertThat(streamed.getCallbackUrl()).isEqualTo(made.getCallbackUrl());
      assertThat(next.getSteps(0).getCallbackUrl()).isEqualTo(made.getCallbackUrl());
      Step listed =
          server.admin().listSteps(ListStepsRequest.newBuilder().setRunId(run).build()).getSteps(0);
      String token = made.getCallbackUrl().replaceFirst(".*/", "");
      assertThat(listed.getKind()).isEqualTo(StepKind.STEP_KIND_CALLBACK);
      assertThat(listed.toString()).doesNotContain(token, token.replaceFirst(".*\\.", ""));
      worker.report(done(next));
    }
  }

  @Test
  void an_answer_is_received_and_the_first_one_stays() {
    server.startRun("answers", "order");
    try (BatchWorker worker = new BatchWorker(server, "answers", "order")) {
      Task task = worker.poll(1).get(0);
      worker.report(callback(task, "payment"));

      AnswerCallbackResponse completed =
          server.workflows().answerCallback(answer(task).setPayload(payload("1")).build());
      AnswerCallbackResponse repeated =
          server
              .workflows()
              .answerCallback(
                  answer(task)
                      .setFailure(CallbackFailure.newBuilder().setMessage("no").setType("Declined"))
                      .build());

      assertThat(completed.getFailed()).isFalse();
      assertThat(repeated.getFailed()).isFalse();
      assertThat(worker.report(waits(task)).get(0).getReceived().getOutput())
          .isEqualTo(payload("1"));
      worker.report(done(task));
    }
  }

  @Test
  void a_failure_has_its_message_and_type_in_the_metadata() {
    server.startRun("failures", "order");
    try (BatchWorker worker = new BatchWorker(server, "failures", "order")) {
      Task task = worker.poll(1).get(0);
      worker.report(callback(task, "payment"));

      AnswerCallbackResponse failed =
          server
              .workflows()
              .answerCallback(
                  answer(task)
                      .setFailure(CallbackFailure.newBuilder().setMessage("no").setType("Declined"))
                      .build());

      assertThat(failed.getFailed()).isTrue();
      assertThat(worker.report(waits(task)).get(0).getReceived().getOutput().getMetadataMap())
          .containsEntry("kagzi.failure", "no")
          .containsEntry("kagzi.failure-type", "Declined");
      worker.report(done(task));
    }
  }

  @Test
  void only_callbacks_of_the_run_are_answered_and_with_something() {
    server.startRun("refused", "order");
    try (BatchWorker worker = new BatchWorker(server, "refused", "order")) {
      Task task = worker.poll(1).get(0);

      assertRefused(
          Status.Code.NOT_FOUND,
          "a callback that the run has made",
          () -> server.workflows().answerCallback(answer(task).setPayload(payload("1")).build()));
      assertRefused(
          Status.Code.INVALID_ARGUMENT,
          "answer: none (expected: payload or failure)",
          () -> server.workflows().answerCallback(answer(task).build()));
      worker.report(callback(task, "payment"), done(task));
      assertRefused(
          Status.Code.FAILED_PRECONDITION,
          "status COMPLETED",
          () -> server.workflows().answerCallback(answer(task).setPayload(payload("1")).build()));
    }
  }

  @Test
  void a_server_without_the_options_says_which_are_missing() {
    try (TestServer plain = TestServer.start()) {
      plain.startRun("off", "order");
      try (BatchWorker worker = new BatchWorker(plain, "off", "order")) {
        Task task = worker.poll(1).get(0);

        List<ReportResult> results = worker.report(callback(task, "payment"), done(task));

        assertThat(results.get(0).getRefused().getMessage())
            .startsWith("callbacks are off on this server: public-url: none (expected:");
        assertThat(results.get(0).getRefused().getMetadataMap())
            .containsEntry("code", "CALLBACKS_OFF");
        assertThat(results.get(1).hasRefused()).as("the end of the same run").isTrue();
      }
    }
  }

  @Test
  void a_simple_client_can_begin_no_step_of_this_kind() {
    String run = server.startRun("simple", "order");

    assertRefused(
        Status.Code.INVALID_ARGUMENT,
        "report a callback instead",
        () ->
            server
                .workers()
                .beginStep(
                    BeginStepRequest.newBuilder()
                        .setRunId(run)
                        .setStepName("payment")
                        .setKind(StepKind.STEP_KIND_CALLBACK)
                        .build()));
  }
}
