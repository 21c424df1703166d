package dev.kagzi.examples;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.WorkFailedException;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Retries and final failures. The "quote" step fails twice and is retried by its policy. The "card"
 * step fails finally: it throws into the workflow, which sends an invoice instead.
 */
final class FlakyGatewayExample implements Example {
  static final WorkflowType<String, String> PAY =
      WorkflowType.of("pay", String.class, String.class).queue("payments");

  private final AtomicInteger calls = new AtomicInteger();

  String pay(WorkflowContext ctx, String customer) {
    Retry fiveAttempts = Retry.exponential(5).initial(Duration.ofMillis(100)).jitter(false);
    String quote = ctx.step("quote").retry(fiveAttempts).run(String.class, this::quote);
    try {
      return ctx.step("card", String.class, () -> chargeCard(customer, quote));
    } catch (WorkFailedException declined) {
      return ctx.step("invoice", String.class, () -> customer + " gets an invoice over " + quote);
    }
  }

  private String quote() {
    int call = calls.incrementAndGet();
    if (call < 3) {
      throw new IllegalStateException("gateway timed out (call " + call + ")");
    }
    return "42.00";
  }

  private static String chargeCard(String customer, String amount) {
    throw new NonRetryableException("card of " + customer + " refused for " + amount);
  }

  @Override
  public String about() {
    return "a flaky call is retried by policy, a final failure is caught by the workflow";
  }

  @Override
  @SuppressWarnings("try") // close() stops the worker
  public String run(Kagzi kagzi) {
    try (Worker worker = kagzi.worker("payments").workflow(PAY, this::pay).start()) {
      return kagzi.workflow(PAY).start("ada").result();
    }
  }
}
