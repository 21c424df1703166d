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
 * A payment that fails for good, and the two who hear of it: the handler that its start named,
 * which knows payments and puts this one aside, and the handler of all failures, which pages
 * somebody whatever it was. A namespace remembers that one for good: the example has a namespace of
 * its own, so that it does not handle what else fails on the server.
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

  // The handlers are runs of their own, and start when the payment has ended.
  private static String soon(CompletableFuture<String> said) {
    return said.orTimeout(1, TimeUnit.MINUTES).join();
  }

  @Override
  public String about() {
    return "a failed payment is put aside by its own handler and paged by the one of all failures";
  }

  @Override
  public String namespace() {
    return "example-handler";
  }

  @Override
  @SuppressWarnings("try") // the worker works while it is open
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
        return "put aside: " + soon(deadLetter) + "; paged: " + soon(page);
      }
    }
  }
}
