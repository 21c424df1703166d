package dev.kagzi.docs.shop;

import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.spring.WorkflowDefinition;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class RefundOrders {
  static final WorkflowType<ProcessOrder.Order, String> REFUND_ORDER =
      WorkflowType.of("refund-order", ProcessOrder.Order.class, String.class).queue("refunds");

  // docs: spring.md
  @Bean
  WorkflowDefinition<ProcessOrder.Order, String> refundOrder(Payments payments) {
    return WorkflowDefinition.of(
        REFUND_ORDER,
        (ctx, order) -> ctx.step("refund", String.class, () -> payments.charge(-order.cents())));
  }
  // end
}
