package dev.kagzi.docs.orders;

// docs: spring.md
import static dev.kagzi.testkit.KagziAssertions.assertThat;

import dev.kagzi.sdk.RunHandle;
import dev.kagzi.spring.test.KagziTest;
import dev.kagzi.testkit.KagziEnv;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;

@KagziTest(properties = "spring.datasource.url=jdbc:h2:mem:test")
class OrdersTest {
  @Autowired Orders orders;
  @Autowired KagziEnv env;

  @Test
  void an_order_is_booked_after_a_day() {
    RunHandle<String> run = orders.place(new PayOrder.Order("order-1", 4200));

    env.awaitStarted(run);   // the outbox is sent in real time
    env.advance(Duration.ofDays(1));

    assertThat(run).completedWith("bookings: 1");
  }
}
// end
