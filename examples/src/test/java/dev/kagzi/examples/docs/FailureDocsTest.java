package dev.kagzi.examples.docs;

import static dev.kagzi.testkit.KagziAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.sdk.ErrorKind;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowFailedEvent;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.testkit.KagziEnv;
import dev.kagzi.testkit.KagziExtension;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The code of docs/failure.md. */
@ExtendWith(KagziExtension.class)
class FailureDocsTest {
  record Payment(int cents) {}

  static final class CardDeclined extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  static final class HttpStatusException extends RuntimeException {
    private static final long serialVersionUID = 1;

    int status() {
      return 429;
    }
  }

  /** A service that records its calls and refuses one booking. */
  static final class Service {
    static final List<String> CALLS = new CopyOnWriteArrayList<>();
    static volatile String refused = "";

    private final String name;

    Service(String name) {
      this.name = name;
    }

    String book(Object what) {
      if (refused.equals(name) || refused.equals(what)) {
        throw new NonRetryableException("no " + refused);
      }
      CALLS.add("book " + name);
      return name;
    }

    void cancel(Object booking) {
      CALLS.add("cancel " + name);
    }

    void send(String text) {
      CALLS.add(name + ": " + text);
    }
  }

  static final Service flights = new Service("flight");
  static final Service hotels = new Service("hotel");
  static final Service extras = new Service("extra");
  static final Service cards = new Service("card");
  static final Service slack = new Service("slack");
  static final Service pager = new Service("pager");

  static final class DeadLetters {
    void insert(String runId, Payment payment, Object failure) {
      Service.CALLS.add("dead letter: " + payment);
    }
  }

  static final DeadLetters deadLetters = new DeadLetters();

  static final class Metrics {
    void increment(String name, String type) {
      Service.CALLS.add(name + " " + type);
    }
  }

  static final Metrics metrics = new Metrics();

  static final class Gateway {
    private final AtomicInteger calls = new AtomicInteger();

    Payment charge(Integer cents) {
      if (calls.incrementAndGet() < 3) {
        throw new IllegalStateException("busy");
      }
      return new Payment(cents);
    }
  }

  static final Pattern CARD_NUMBER = Pattern.compile("[0-9]{12,}");

  @BeforeEach
  void clearCalls() {
    Service.CALLS.clear();
    Service.refused = "";
  }

  // ---- retry

  static Payment charge(WorkflowContext ctx, Gateway gateway, Integer order) {
    // docs: failure.md
    Payment payment =
        ctx.step("charge")
            .retry(
                Retry.exponential(5) // executed five times at most
                    .initial(Duration.ofSeconds(1)) // after 1 s, 2 s, 4 s ...
                    .max(Duration.ofMinutes(1))
                    .notOn(CardDeclined.class) // and its subclasses: final at once
                    .notOn(ErrorKind.VALIDATION)
                    .notOnMessage("insufficient funds")) // the beginning of the message
            .run(Payment.class, () -> gateway.charge(order));
    // end
    return payment;
  }

  @Test
  void a_step_is_retried_by_its_policy(KagziEnv env) {
    WorkflowType<Integer, Payment> type =
        WorkflowType.of("charge", Integer.class, Payment.class).queue("payments");
    Gateway gateway = new Gateway();
    env.worker().workflow(type, (ctx, order) -> charge(ctx, gateway, order)).start();
    RunHandle<Payment> run = env.kagzi().workflow(type).start(42);

    env.advance(Duration.ofMinutes(1));

    assertThat(run).completedWith(new Payment(42)).executedStep("charge").times(3);
  }

  // ---- kinds, sanitizer, handlers

  static final WorkflowType<Payment, String> PROCESS_PAYMENT =
      WorkflowType.of("process-payment", Payment.class, String.class).queue("payments");

  static final class Payments {
    static String process(WorkflowContext ctx, Payment payment) {
      return ctx.step("charge")
          .retry(Retry.none())
          .run(String.class, () -> fail(new HttpStatusException()));
    }

    static String handlePaymentFailure(WorkflowContext ctx, WorkflowFailedEvent event) {
      return FailureDocsTest.handlePaymentFailure(ctx, event);
    }
  }

  static String fail(RuntimeException e) {
    throw e;
  }

  static void kinds(Kagzi kagzi) {
    // docs: failure.md
    kagzi
        .worker("payments")
        .workflow(PROCESS_PAYMENT, Payments::process)
        .errorKinds(
            e ->
                e instanceof HttpStatusException http && http.status() == 429
                    ? ErrorKind.RATE_LIMIT
                    : ErrorKind.UNKNOWN)
        .start();
    // end
  }

  @Test
  void a_worker_classifies_errors(KagziEnv env) {
    kinds(env.kagzi());

    RunHandle<String> run = env.kagzi().workflow(PROCESS_PAYMENT).start(new Payment(1));

    assertThat(run).failedWith(HttpStatusException.class);
    assertThat(run.info().failure().orElseThrow().kind()).isEqualTo(ErrorKind.RATE_LIMIT);
  }

  static void sanitizer(Kagzi kagzi) {
    // docs: failure.md
    kagzi
        .worker("payments")
        .workflow(PROCESS_PAYMENT, Payments::process)
        .errorSanitizer(
            failure -> failure.redacted(text -> CARD_NUMBER.matcher(text).replaceAll("****")))
        .recordStacks(false)
        .start();
    // end
  }

  @Test
  void a_sanitizer_keeps_texts_and_stacks_out_of_the_history(KagziEnv env) {
    sanitizer(env.kagzi());

    RunHandle<String> run = env.kagzi().workflow(PROCESS_PAYMENT).start(new Payment(1));

    assertThat(run).failedWith(HttpStatusException.class);
    assertThat(run.info().failure().orElseThrow().stack()).isEmpty();
  }

  // docs: failure.md
  static final WorkflowType<WorkflowFailedEvent, String> HANDLE_PAYMENT_FAILURE =
      WorkflowType.of("handle-payment-failure", WorkflowFailedEvent.class, String.class)
          .queue("payments");

  static RunHandle<String> pay(Kagzi kagzi, Payment payment) {
    return kagzi.workflow(PROCESS_PAYMENT).onFailure(HANDLE_PAYMENT_FAILURE).start(payment);
  }

  static String handlePaymentFailure(WorkflowContext ctx, WorkflowFailedEvent event) {
    ctx.step(
        "send-alert",
        () ->
            slack.send(
                "payment %s failed after %d attempts: %s"
                    .formatted(event.failedRunId(), event.attempts(), event.error())));
    Payment payment = event.input(Payment.class); // what the failed run was given, up to 1 MiB
    ctx.step(
        "save-to-dead-letters",
        () -> deadLetters.insert(event.failedRunId(), payment, event.failure()));
    return "saved";
  }

  // end

  static void handlers(Kagzi kagzi) {
    // docs: failure.md
    kagzi
        .worker("payments")
        .workflow(PROCESS_PAYMENT, Payments::process)
        .workflow(HANDLE_PAYMENT_FAILURE, Payments::handlePaymentFailure)
        .onAnyFailure(
            (ctx, event) -> {
              ctx.step("count", () -> metrics.increment("workflow.failed", event.workflowType()));
              ctx.step(
                  "page-oncall",
                  () -> pager.send(event.workflowType() + " failed: " + event.error()));
              return "paged";
            })
        .start();
    // end
  }

  @Test
  void a_failed_run_starts_its_own_handler_and_the_handler_of_all_failures(KagziEnv env) {
    handlers(env.kagzi());

    RunHandle<String> run = pay(env.kagzi(), new Payment(7));
    assertThat(run).failedWith(HttpStatusException.class);
    env.settle();

    assertThat(Service.CALLS)
        .contains("workflow.failed process-payment", "dead letter: Payment[cents=7]")
        .anyMatch(call -> call.startsWith("slack: payment " + run.runId() + " failed after 1"))
        .anyMatch(call -> call.startsWith("pager: process-payment failed: "));
  }

  // ---- cancel, terminate, retry, resume

  static RunHandle<String> act(RunHandle<String> run) {
    // docs: failure.md
    run.cancel(); // false if it had ended otherwise
    run.terminate("wrong customer");
    RunHandle<String> again = run.retry(); // existed(): an open run with its id was returned
    run.resume(); // after the cause was repaired
    run.forceResume(); // although it was terminated, or has undone its work
    // end
    return again;
  }
}
