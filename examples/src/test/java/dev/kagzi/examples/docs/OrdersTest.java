package dev.kagzi.examples.docs;

import static dev.kagzi.testkit.KagziAssertions.assertThat;

import dev.kagzi.sdk.RunHandle;
import dev.kagzi.testkit.KagziEnv;
import dev.kagzi.testkit.KagziExtension;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(KagziExtension.class)
class OrdersTest {

  @Test
  void the_workflow_of_the_readme_charges_sleeps_and_ships(KagziEnv env) {
    env.worker("orders").workflow(Orders.PROCESS_ORDER, Orders::processOrder).start();
    RunHandle<String> run =
        env.kagzi().workflow(Orders.PROCESS_ORDER).start(new Orders.Order("lamp", 4200));

    env.advance(Duration.ofSeconds(4));

    assertThat(run).completedWith("paid 4200, shipped lamp").executedStep("charge").once();
  }
}
