package dev.kagzi.examples.docs;

import static dev.kagzi.examples.docs.TestedOrders.PROCESS_ORDER;
import static dev.kagzi.examples.docs.TestedOrders.order;
import static dev.kagzi.examples.docs.TestedOrders.receipt;
import static dev.kagzi.testkit.KagziAssertions.assertThat;

import dev.kagzi.examples.docs.TestedOrders.Receipt;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.testkit.KagziEnv;
import dev.kagzi.testkit.KagziExtension;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(KagziExtension.class)
class CrashDocsTest {

  @Test
  void after_a_crash_behind_a_step_the_step_is_not_executed_again(KagziEnv env) {
    env.worker("orders").workflow(PROCESS_ORDER, TestedOrders::process).start();

    // docs: testing.md
    env.crashWorkerAfter("charge");
    RunHandle<Receipt> run = env.kagzi().workflow(PROCESS_ORDER).start(order);
    env.advance(Duration.ofHours(25));

    assertThat(run).completedWith(receipt).executedStep("charge").once();
    // end
  }
}
