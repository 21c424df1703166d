package dev.kagzi.server.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RecordedStep;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.protocol.v1.ReportResponse;
import dev.kagzi.server.callback.CallbackKeys;
import dev.kagzi.server.callback.CallbackUrls;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ReportCallTest {
  private static ReportResult.AwaitedSteps came(int steps, int bytes) {
    List<RecordedStep> all = new ArrayList<>();
    for (int i = 0; i < steps; i++) {
      Payload output = new Payload(new byte[bytes], Map.of());
      all.add(
          new RecordedStep(
              "child-" + i,
              1,
              StepKind.CHILD_WORKFLOW,
              new RecordedStep.Result.Output(output),
              null,
              null,
              null,
              null));
    }
    return new ReportResult.AwaitedSteps(all, true);
  }

  /** Many runs of one worker may get results of their children by one call. */
  @Test
  void steps_that_arrived_for_many_runs_are_returned_up_to_the_message_limit() {
    List<ReportResult> results = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      results.add(came(4, 500_000));
    }
    results.add(new ReportResult.Accepted(RunStatus.COMPLETED));

    ReportResponse response =
        ReportCall.response(
            new Refusal[results.size()],
            results,
            i ->
                new WorkerSteps(
                    "default", RunId.next(), new CallbackUrls(CallbackKeys.none(), null)));

    assertThat(response.getSerializedSize()).isBetween(4 << 20, 5 << 20);
    assertThat(response.getResultsList().subList(0, 20))
        .allMatch(result -> result.getAwaited().getClaimKept());
    assertThat(response.getResults(0).getAwaited().getStepsCount()).isEqualTo(4);
    assertThat(response.getResults(19).getAwaited().getStepsCount()).isZero();
    assertThat(response.getResults(20).hasAccepted()).isTrue();
  }
}
