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

// docs: testing.md
@ExtendWith(KagziExtension.class)
class OrderTest {

  @Test
  void an_order_is_shipped_after_its_day_of_cooling_off(KagziEnv env) {
    env.worker("orders").workflow(PROCESS_ORDER, TestedOrders::process).start();
    RunHandle<Receipt> run = env.kagzi().workflow(PROCESS_ORDER).start(order);

    env.advance(Duration.ofHours(23));
    assertThat(run).isSleeping();
    env.advance(Duration.ofHours(2));

    assertThat(run).completedWith(receipt).executedStep("charge").once();
  }
}
// end
