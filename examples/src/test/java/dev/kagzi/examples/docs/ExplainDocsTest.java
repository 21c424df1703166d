package dev.kagzi.examples.docs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.sdk.RunExplanation;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.testkit.KagziEnv;
import dev.kagzi.testkit.KagziExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The code of docs/why-a-run-waits.md. */
@ExtendWith(KagziExtension.class)
class ExplainDocsTest {
  static final WorkflowType<String, String> REPORT =
      WorkflowType.of("report", String.class, String.class);

  static RunExplanation print(RunHandle<String> run) {
    // docs: why-a-run-waits.md
    RunExplanation explained = run.explain();
    for (RunExplanation.Cause cause : explained.causes()) {
      System.out.println(cause.code() + ": " + cause.text());
    }
    // end
    return explained;
  }

  @Test
  void a_run_without_a_worker_is_explained(KagziEnv env) {
    RunHandle<String> run = env.kagzi().workflow(REPORT).start("march");

    assertThat(print(run).causes())
        .extracting(RunExplanation.Cause::code)
        .containsExactly("NO_WORKER");
  }
}
