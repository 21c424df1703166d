package dev.kagzi.server;

import static dev.kagzi.server.BatchWorker.item;
import static dev.kagzi.server.TestServer.payload;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Timestamp;
import dev.kagzi.protocol.v1.AttachResponse;
import dev.kagzi.protocol.v1.ClaimRef;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.ListStepsRequest;
import dev.kagzi.protocol.v1.ListStepsResponse;
import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.protocol.v1.RetryPolicy;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.Step;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.protocol.v1.StepStatus;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowStatus;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What a worker reports of a step is stored, listed, and part of the next task. */
class StepFieldsTest {
  private static TestServer server;

  @BeforeAll
  static void startServer() {
    server = TestServer.start();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  private static ListStepsResponse list(String run, PageRequest page) {
    return server
        .admin()
        .listSteps(ListStepsRequest.newBuilder().setRunId(run).setPage(page).build());
  }

  private static Step step(String run, String name) {
    List<Step> steps =
        server
            .admin()
            .listSteps(ListStepsRequest.newBuilder().setRunId(run).setStepName(name).build())
            .getStepsList();
    assertThat(steps).hasSize(1);
    return steps.get(0);
  }

  private static double seconds(Timestamp from, Timestamp to) {
    return to.getSeconds() - from.getSeconds() + (to.getNanos() - from.getNanos()) / 1e9;
  }

  private static ReportItem.Builder child(Task task, boolean detached) {
    return item(task)
        .setChildStarted(
            ReportItem.ChildStarted.newBuilder()
                .setStepKey(detached ? "apart" : "child")
                .setAttempt(1)
                .setStart(
                    StartWorkflowRequest.newBuilder()
                        .setWorkflowType("part")
                        .setTaskQueue(detached ? "apart" : "parts"))
                .setDetached(detached));
  }

  private static ReportItem.Builder awaited(Task task) {
    return item(task)
        .setAwaited(
            ReportItem.Awaited.newBuilder()
                .addStepKeys("child")
                .setAll(true)
                .setDurationMs(600_000)
                .setKeepClaim(true));
  }

  @Test
  void a_started_step_and_its_result_show_the_reported_fields() {
    String run = server.startRun("said", "order");
    try (BatchWorker worker = new BatchWorker(server, "said", "order")) {
      Task task = worker.poll(1).get(0);
      worker.report(
          item(task)
              .setStepStarted(
                  ReportItem.StepStarted.newBuilder()
                      .setStepKey("slow#2")
                      .setAttempt(1)
                      .setKind(StepKind.STEP_KIND_FUNCTION)
                      .setInput(payload("\"in\""))
                      .setInputHash("hash")
                      .setRunningUs(5_000_000)
                      .setTimeoutMs(3_600_000)
                      .setRetryPolicy(RetryPolicy.newBuilder().setMaximumAttempts(2))
                      .setProgress(payload("50"))));
      Step running = step(run, "slow");
      worker.report(
          item(task)
              .setStepDone(
                  ReportItem.StepDone.newBuilder()
                      .setStepKey("slow#2")
                      .setAttempt(1)
                      .setOutput(payload("\"out\""))),
          item(task)
              .setStepDone(
                  ReportItem.StepDone.newBuilder()
                      .setStepKey("quick")
                      .setAttempt(1)
                      .setKind(StepKind.STEP_KIND_FUNCTION)
                      .setInput(payload("1"))
                      .setInputHash("other")
                      .setRanUs(60_000_000)
                      .setOutput(payload("2"))));
      Step done = step(run, "slow");
      Step quick = step(run, "quick");
      ListStepsResponse first = list(run, PageRequest.newBuilder().setPageSize(1).build());

      assertThat(running.getNamespace()).isEqualTo("default");
      assertThat(running.getRunId()).isEqualTo(run);
      assertThat(running.getStepKey()).isEqualTo("slow#2");
      assertThat(running.getRunAttempt()).isEqualTo(1);
      assertThat(running.getStatus()).isEqualTo(StepStatus.STEP_STATUS_RUNNING);
      assertThat(running.getInput()).isEqualTo(payload("\"in\""));
      assertThat(running.getInputHash()).isEqualTo("hash");
      assertThat(running.getProgress()).isEqualTo(payload("50"));
      assertThat(running.hasOutput()).isFalse();
      assertThat(running.hasFinishedAt()).isFalse();
      assertThat(running.hasChildRunId()).isFalse();
      assertThat(seconds(running.getStartedAt(), running.getCreatedAt())).isBetween(4.9, 5.1);
      assertThat(done.getStatus()).isEqualTo(StepStatus.STEP_STATUS_COMPLETED);
      assertThat(done.getOutput()).isEqualTo(payload("\"out\""));
      assertThat(done.getStartedAt()).isEqualTo(running.getStartedAt());
      assertThat(done.hasFinishedAt()).isTrue();
      assertThat(quick.getInput()).isEqualTo(payload("1"));
      assertThat(quick.getInputHash()).isEqualTo("other");
      assertThat(seconds(quick.getStartedAt(), quick.getFinishedAt())).isBetween(59.9, 60.1);
      assertThat(first.getSteps(0).getName()).as("the first to begin").isEqualTo("quick");
      assertThat(first.getPage().getHasMore()).isTrue();
    }
  }

  @Test
  void branches_that_began_within_a_millisecond_are_listed_in_the_order_of_their_begins() {
    String run = server.startRun("close", "order");
    try (BatchWorker worker = new BatchWorker(server, "close", "order")) {
      Task task = worker.poll(1).get(0);

      worker.report(
          IntStream.range(0, 12)
              .mapToObj(i -> ran(task, "p[%d]/a".formatted(i), 1_900 - 50 * i))
              .toArray(ReportItem.Builder[]::new));

      assertThat(list(run, PageRequest.getDefaultInstance()).getStepsList())
          .extracting(Step::getStepKey)
          .containsExactlyElementsOf(
              IntStream.range(0, 12).mapToObj("p[%d]/a"::formatted).toList());
    }
  }

  private static ReportItem.Builder ran(Task task, String key, long us) {
    ReportItem.Builder done = BatchWorker.stepDone(task, key, payload("1"));
    done.getStepDoneBuilder().setRanUs(us);
    return done;
  }

  @Test
  void a_failed_step_shows_whether_it_is_final_and_when_the_next_attempt_is_due() {
    String run = server.startRun("failures", "order");
    try (BatchWorker worker = new BatchWorker(server, "failures", "order")) {
      Task task = worker.poll(1).get(0);

      List<ReportResult> results =
          worker.report(
              item(task)
                  .setStepFailed(
                      ReportItem.StepFailed.newBuilder()
                          .setStepKey("flaky")
                          .setAttempt(1)
                          .setInput(payload("1"))
                          .setInputHash("hash")
                          .setError(
                              ErrorDetail.newBuilder().setMessage("no").setRetryAfterMs(600_000))
                          .setKeepClaim(true)
                          .setRanUs(2_000_000)
                          .setProgress(payload("7"))),
              item(task)
                  .setStepFailed(
                      ReportItem.StepFailed.newBuilder()
                          .setStepKey("doomed")
                          .setAttempt(1)
                          .setError(
                              ErrorDetail.newBuilder().setMessage("never").setNonRetryable(true))));
      Step flaky = step(run, "flaky");
      Step doomed = step(run, "doomed");

      assertThat(results.get(0).getRetryScheduled().getDelayMs()).isEqualTo(600_000);
      assertThat(results.get(0).getRetryScheduled().getClaimKept()).isTrue();
      assertThat(results.get(1).hasFinalFailure()).isTrue();
      assertThat(flaky.getFinal()).isFalse();
      assertThat(flaky.getError().getRetryAfterMs()).isEqualTo(600_000);
      assertThat(seconds(flaky.getFinishedAt(), flaky.getDueAt())).isBetween(599.0, 601.0);
      assertThat(seconds(flaky.getStartedAt(), flaky.getFinishedAt())).isBetween(1.9, 2.1);
      assertThat(flaky.getInput()).isEqualTo(payload("1"));
      assertThat(flaky.getInputHash()).isEqualTo("hash");
      assertThat(flaky.getProgress()).isEqualTo(payload("7"));
      assertThat(doomed.getFinal()).isTrue();
      assertThat(doomed.hasDueAt()).isFalse();
    }
  }

  @Test
  void the_next_claim_gets_every_step_in_its_last_state() throws Exception {
    String run = server.startRun("left", "order");
    try (BatchWorker worker = new BatchWorker(server, "left", "order");
        BatchWorker parts = new BatchWorker(server, "parts", "part")) {
      worker.attach();
      Task task = worker.poll(1).get(0);
      List<ReportResult> results =
          worker.report(
              BatchWorker.stepDone(task, "done", payload("1")),
              item(task)
                  .setStepStarted(
                      ReportItem.StepStarted.newBuilder()
                          .setStepKey("open")
                          .setAttempt(1)
                          .setInputHash("hash")
                          .setProgress(payload("9"))),
              item(task)
                  .setStepFailed(
                      ReportItem.StepFailed.newBuilder()
                          .setStepKey("flaky")
                          .setAttempt(1)
                          .setKeepClaim(true)
                          .setError(
                              ErrorDetail.newBuilder().setMessage("no").setRetryAfterMs(600_000))),
              item(task)
                  .setStepFailed(
                      ReportItem.StepFailed.newBuilder()
                          .setStepKey("doomed")
                          .setAttempt(1)
                          .setError(
                              ErrorDetail.newBuilder().setMessage("never").setNonRetryable(true))),
              item(task)
                  .setSleep(
                      ReportItem.SleepStarted.newBuilder()
                          .setStepKey("nap")
                          .setDurationMs(600_000)
                          .setKeepClaim(true)),
              child(task, false));
      String child = results.get(5).getAccepted().getChildRunId();
      ReportResult before = worker.report(awaited(task)).get(0);
      parts.report(BatchWorker.done(parts.poll(1).get(0)));
      AttachResponse wake = wake(worker);
      ReportResult after = worker.report(awaited(task)).get(0);
      worker.report(item(task).setReleased(ReportItem.Released.getDefaultInstance()));
      Task again = worker.poll(1).get(0);
      var steps =
          again.getStepsList().stream()
              .collect(Collectors.toMap(RecordedStep::getStepKey, Function.identity()));

      assertThat(results.get(4).getSleeping().getRemainingMs()).isBetween(590_000L, 600_000L);
      assertThat(results.get(4).getSleeping().getClaimKept()).isTrue();
      assertThat(before.getAwaited().getStepsList()).isEmpty();
      assertThat(before.getAwaited().getClaimKept()).isTrue();
      assertThat(wake.getWake().getClaimsList())
          .containsExactly(ClaimRef.newBuilder().setRunId(run).setEpoch(task.getEpoch()).build());
      assertThat(after.getAwaited().getStepsList())
          .singleElement()
          .satisfies(step -> assertThat(step.getOutput()).isEqualTo(payload("1")));
      assertThat(steps).containsOnlyKeys("done", "open", "flaky", "doomed", "nap", "child");
      assertThat(step(steps, "done").getOutput()).isEqualTo(payload("1"));
      assertThat(step(steps, "done").getKind()).isEqualTo(StepKind.STEP_KIND_FUNCTION);
      assertThat(step(steps, "done").getEpoch()).isEqualTo(task.getEpoch());
      assertThat(step(steps, "done").hasRecordedAt()).isTrue();
      assertThat(step(steps, "open").getOpen()).isTrue();
      assertThat(step(steps, "open").getInputHash()).isEqualTo("hash");
      assertThat(step(steps, "open").getProgress()).isEqualTo(payload("9"));
      assertThat(step(steps, "flaky").getAttempt()).isEqualTo(1);
      assertThat(step(steps, "flaky").getRetry().getError().getMessage()).isEqualTo("no");
      assertThat(step(steps, "flaky").getRetry().getDelayMs()).isBetween(500_000L, 600_000L);
      assertThat(step(steps, "doomed").getFinalFailure().getMessage()).isEqualTo("never");
      assertThat(step(steps, "nap").getKind()).isEqualTo(StepKind.STEP_KIND_SLEEP);
      assertThat(step(steps, "nap").getSleepsMs()).isBetween(500_000L, 600_000L);
      assertThat(step(steps, "child").getKind()).isEqualTo(StepKind.STEP_KIND_CHILD_WORKFLOW);
      assertThat(step(steps, "child").getChildRunId()).isEqualTo(child);
      assertThat(step(run, "child").getChildRunId()).isEqualTo(child);
      worker.report(BatchWorker.done(again));
    }
  }

  private static RecordedStep step(Map<String, RecordedStep> steps, String key) {
    return Objects.requireNonNull(steps.get(key));
  }

  /** Skips other events of the server. */
  private static AttachResponse wake(BatchWorker worker) throws InterruptedException {
    while (true) {
      AttachResponse event = worker.events.poll(30, TimeUnit.SECONDS);
      assertThat(event).isNotNull();
      if (event.hasWake()) {
        return event;
      }
    }
  }

  @Test
  void a_detached_child_is_not_awaited_and_not_cancelled() {
    String run = server.startRun("own-way", "order");
    try (BatchWorker worker = new BatchWorker(server, "own-way", "order")) {
      Task task = worker.poll(1).get(0);
      String child = worker.report(child(task, true)).get(0).getAccepted().getChildRunId();
      worker.report(
          item(task)
              .setReleased(
                  ReportItem.Released.newBuilder()
                      .setDelayMs(600_000)
                      .setBlockedBy(ErrorDetail.newBuilder().setMessage("changed"))));
      Workflow blocked = server.run(run);
      Workflow shown = server.run(child);

      assertThat(shown.getParentRunId()).isEqualTo(run);
      assertThat(shown.getParentStepId()).isEqualTo("apart");
      assertThat(shown.getDetached()).isTrue();
      assertThat(step(run, "apart").getStatus()).isEqualTo(StepStatus.STEP_STATUS_COMPLETED);
      assertThat(blocked.getStatus()).isEqualTo(WorkflowStatus.WORKFLOW_STATUS_PENDING);
      assertThat(blocked.getBlockedBy().getMessage()).isEqualTo("changed");
      assertThat(seconds(blocked.getStartedAt(), blocked.getWakeUpAt())).isGreaterThan(590);
    }
  }
}
