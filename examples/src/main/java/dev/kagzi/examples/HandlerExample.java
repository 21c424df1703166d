package dev.kagzi.examples;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.RunFailedException;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowFailedEvent;
import dev.kagzi.sdk.WorkflowType;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Failure handlers. A failed payment starts two handlers: the one that its start named, which saves
 * the payment as a dead letter, and the handler of all failures, which pages the operator.
 *
 * <p>The namespace stores the handler of all failures permanently. The example uses its own
 * namespace, so that it does not handle other failures on the server.
 */
final class HandlerExample implements Example {
  record Payment(String customer, int cents) {}

  static final WorkflowType<Payment, String> PROCESS_PAYMENT =
      WorkflowType.of("process-payment", Payment.class, String.class).queue("payments");

  static final WorkflowType<WorkflowFailedEvent, String> HANDLE_PAYMENT_FAILURE =
      WorkflowType.of("handle-payment-failure", WorkflowFailedEvent.class, String.class)
          .queue("payments");

  private final CompletableFuture<String> deadLetter = new CompletableFuture<>();
  private final CompletableFuture<String> page = new CompletableFuture<>();

  static String processPayment(WorkflowContext ctx, Payment payment) {
    return ctx.step(
        "charge",
        String.class,
        () -> {
          throw new NonRetryableException("card of " + payment.customer() + " declined");
        });
  }

  String handlePaymentFailure(WorkflowContext ctx, WorkflowFailedEvent event) {
    Payment payment = event.input(Payment.class);
    ctx.step(
        "save-to-dead-letters",
        () -> deadLetter.complete(payment.cents() + " of " + payment.customer()));
    return "saved " + event.failedRunId();
  }

  String handleAnyFailure(WorkflowContext ctx, WorkflowFailedEvent event) {
    ctx.step("page-oncall", () -> page.complete(event.workflowType() + ": " + event.error()));
    return "paged";
  }

  // The handlers are separate runs that start after the payment has failed.
  private static String await(CompletableFuture<String> handled) {
    return handled.orTimeout(1, TimeUnit.MINUTES).join();
  }

  @Override
  public String about() {
    return "a failed payment starts its own handler and the handler of all failures";
  }

  @Override
  public String namespace() {
    return "example-handler";
  }

  @Override
  @SuppressWarnings("try") // close() stops the worker
  public String run(Kagzi kagzi) {
    try (Worker worker =
        kagzi
            .worker("payments")
            .workflow(PROCESS_PAYMENT, HandlerExample::processPayment)
            .workflow(HANDLE_PAYMENT_FAILURE, this::handlePaymentFailure)
            .onAnyFailure(this::handleAnyFailure)
            .start()) {
      try {
        return kagzi
            .workflow(PROCESS_PAYMENT)
            .onFailure(HANDLE_PAYMENT_FAILURE)
            .start(new Payment("ada", 4200))
            .result();
      } catch (RunFailedException failed) {
        return "dead letter: " + await(deadLetter) + "; paged: " + await(page);
      }
    }
  }
}
