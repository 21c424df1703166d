package dev.kagzi.examples.docs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.sdk.Admin;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.testkit.KagziEnv;
import dev.kagzi.testkit.KagziExtension;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The code of docs/tools.md. */
@ExtendWith(KagziExtension.class)
class ToolsDocsTest {
  private static final Logger log = LoggerFactory.getLogger(ToolsDocsTest.class);

  static long count(Kagzi kagzi) {
    // docs: tools.md
    Admin admin = kagzi.admin();
    long failed = admin.stats().runsByStatus().get(RunStatus.FAILED);
    admin
        .queues()
        .filter(queue -> queue.oldestDue().orElse(Duration.ZERO).toMinutes() >= 5)
        .forEach(queue -> log.warn("queue {}: {} runs wait", queue.name(), queue.pendingRuns()));
    // end
    return failed;
  }

  @Test
  void failed_runs_are_counted(KagziEnv env) {
    WorkflowType<String, String> type = WorkflowType.of("job", String.class, String.class);
    assertThat(count(env.kagzi())).isZero();

    env.kagzi().workflow(type).start("x").terminate("not needed");

    assertThat(count(env.kagzi())).isEqualTo(1);
  }
}
