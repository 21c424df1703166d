package dev.kagzi.docs.shop;

// docs: spring.md
import static dev.kagzi.testkit.KagziAssertions.assertThat;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.spring.test.KagziTest;
import dev.kagzi.testkit.KagziEnv;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;

@KagziTest
class ProcessOrderTest {
  @Autowired Kagzi kagzi;
  @Autowired KagziEnv env;

  @Test
  void an_order_is_shipped_after_a_day() {
    RunHandle<String> run =
        kagzi.workflow(ProcessOrder.TYPE).start(new ProcessOrder.Order("lamp", 4200));

    env.advance(Duration.ofHours(23));
    assertThat(run).isSleeping();
    env.advance(Duration.ofHours(2));

    assertThat(run).completedWith("paid 4200, shipped lamp");
  }
}
// end
