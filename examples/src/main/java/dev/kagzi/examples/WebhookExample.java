package dev.kagzi.examples;

import dev.kagzi.sdk.Callback;
import dev.kagzi.sdk.CallbackFailedException;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;

/**
 * A payment provider answers by a webhook. The run hands it a URL and waits without a thread or a
 * slot of a worker. The provider of this example sends each webhook twice, as real ones do.
 */
final class WebhookExample implements Example {
  record Payment(String id, int cents) {}

  static final WorkflowType<String, String> CHECKOUT =
      WorkflowType.of("checkout", String.class, String.class).queue("checkouts");

  private final HttpClient http = HttpClient.newHttpClient();

  String checkout(WorkflowContext ctx, String item) {
    Callback<Payment> payment = ctx.callback("payment", Payment.class);
    ctx.step("ask-provider", () -> askProvider(item, payment.url()));
    try {
      Optional<Payment> paid = payment.await(Duration.ofMinutes(15));
      return paid.map(each -> "%s paid with %s (%d)".formatted(item, each.id(), each.cents()))
          .orElse(item + " not paid in time");
    } catch (CallbackFailedException declined) {
      return item + " not paid: " + declined.failure().message();
    }
  }

  /** The provider accepts the order at once and calls back later, from its own thread. */
  private void askProvider(String item, String url) {
    Thread.ofVirtual().name("provider").start(() -> callBack(item, url));
  }

  private void callBack(String item, String url) {
    for (int i = 0; i < 2; i++) {
      if (item.equals("yacht")) {
        post(url + "/fail", "{\"type\": \"CardDeclined\", \"message\": \"no money\"}");
      } else {
        post(url, "{\"id\": \"p-1\", \"cents\": 4200}");
      }
    }
  }

  private void post(String url, String json) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(json))
            .build();
    http.sendAsync(request, HttpResponse.BodyHandlers.discarding()).join();
  }

  @Override
  public String about() {
    return "a payment provider calls back by a webhook, twice; another payment is declined";
  }

  @Override
  @SuppressWarnings("try") // close() stops the worker
  public String run(Kagzi kagzi) {
    try (Worker worker = kagzi.worker("checkouts").workflow(CHECKOUT, this::checkout).start()) {
      RunHandle<String> lamp = kagzi.workflow(CHECKOUT).start("lamp");
      RunHandle<String> yacht = kagzi.workflow(CHECKOUT).start("yacht");
      return lamp.result() + "; " + yacht.result();
    }
  }
}
