package dev.kagzi.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.testkit.KagziEnv;
import dev.kagzi.testkit.KagziExtension;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Shows how a workflow is tested (docs/testing.md). */
@ExtendWith(KagziExtension.class)
class OrderExampleTest {

  @Test
  void an_order_sleeps_before_it_is_shipped(KagziEnv env) {
    env.worker("orders").workflow(OrderExample.PROCESS_ORDER, OrderExample::processOrder).start();
    RunHandle<String> run =
        env.kagzi()
            .workflow(OrderExample.PROCESS_ORDER)
            .start(new OrderExample.Order("lamp", 4200));

    env.advance(Duration.ofSeconds(1));
    assertThat(run.status()).isEqualTo(RunStatus.SLEEPING);
    env.advance(Duration.ofSeconds(2));

    assertThat(run.status()).isEqualTo(RunStatus.COMPLETED);
    assertThat(run.result()).isEqualTo("paid 4200, shipped lamp");
  }
}
