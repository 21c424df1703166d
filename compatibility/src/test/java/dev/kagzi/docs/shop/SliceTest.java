package dev.kagzi.docs.shop;

import static dev.kagzi.docs.shop.RefundOrders.REFUND_ORDER;
import static dev.kagzi.testkit.KagziAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.spring.test.KagziTest;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.ApplicationContext;

/** A context of chosen classes. */
// docs: spring.md
@KagziTest(classes = {RefundOrders.class, Payments.class})
// end
class SliceTest {
  @Autowired Kagzi kagzi;
  @Autowired ApplicationContext context;

  @Test
  void only_the_chosen_beans_and_those_of_kagzi_are_there() {
    assertThat(kagzi.workflow(REFUND_ORDER).start(new ProcessOrder.Order("lamp", 1)))
        .completedWith("paid -1");
    assertThat(context.getBeanNamesForType(ProcessOrder.class)).isEmpty();
    assertThat(context.containsBean("dataSource")).isFalse();
  }
}
