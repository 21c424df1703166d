package dev.kagzi.examples.docs;

import static dev.kagzi.testkit.KagziAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.sdk.Branch;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.Signal;
import dev.kagzi.sdk.SignalInfo;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.testkit.KagziEnv;
import dev.kagzi.testkit.KagziExtension;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The code of docs/signals.md. */
@ExtendWith(KagziExtension.class)
class SignalsDocsTest {
  // docs: signals.md
  record Approval(String by, boolean approved) {}

  static final Signal<Approval> APPROVAL = Signal.of("approval", Approval.class);

  // end

  record Order(String item) {}

  record Event(String id, Approval approval) {}

  static final WorkflowType<Order, String> ORDER =
      WorkflowType.of("order", Order.class, String.class).queue("orders");

  // docs: signals.md
  static String order(WorkflowContext ctx, Order order) {
    Optional<Approval> answer = ctx.receive(APPROVAL, Duration.ofDays(3));
    if (answer.isEmpty()) {
      ctx.step("remind", () -> mail("please approve " + order.item()));
      Approval late = ctx.receive(APPROVAL);
      return "approved late by " + late.by();
    }
    return "approved by " + answer.get().by();
  }

  // end

  private static void mail(String text) {
    assertThat(text).isNotEmpty();
  }

  @Test
  void a_run_receives_an_approval_and_reminds_without_one(KagziEnv env) {
    Kagzi kagzi = env.kagzi();
    env.worker("orders").workflow(ORDER, SignalsDocsTest::order).start();
    Order lamp = new Order("lamp");
    RunHandle<String> run = kagzi.workflow(ORDER).id("order-42").start(lamp);
    // docs: signals.md
    kagzi.run(ORDER, "order-42").signal(APPROVAL, new Approval("ann", true));
    // end
    assertThat(run).completedWith("approved by ann").hasReceivedSignals("approval");

    RunHandle<String> slow = kagzi.workflow(ORDER).start(lamp);
    env.advance(Duration.ofDays(4));
    slow.signal(APPROVAL, new Approval("bob", true));
    assertThat(slow).completedWith("approved late by bob").executedStep("remind").once();
  }

  @Test
  void a_webhook_starts_the_run_or_reaches_it(KagziEnv env) {
    Kagzi kagzi = env.kagzi();
    Event event = new Event("evt-1", new Approval("ann", true));
    Order lamp = new Order("lamp");
    // docs: signals.md
    kagzi
        .workflow(ORDER)
        .id("order-42")
        .signalOrStart(APPROVAL, event.approval(), event.id(), lamp);
    // end
    RunHandle<String> again =
        kagzi
            .workflow(ORDER)
            .id("order-42")
            .signalOrStart(APPROVAL, event.approval(), event.id(), lamp);
    assertThat(again.existed()).isTrue();
    assertThat(env.signals(again)).hasSize(1);
  }

  // docs: signals.md
  static String firstOf(WorkflowContext ctx, Order order) {
    return ctx.race(
        "decision",
        List.of(
            Branch.of("person", branch -> "approved by " + branch.receive(APPROVAL).by()),
            Branch.of(
                "timer",
                branch -> {
                  branch.sleep("patience", Duration.ofDays(3));
                  return "expired";
                })));
  }

  // end

  @Test
  void a_receive_races_with_a_sleep(KagziEnv env) {
    Kagzi kagzi = env.kagzi();
    env.worker("orders").workflow(ORDER, SignalsDocsTest::firstOf).start();

    RunHandle<String> approved = kagzi.workflow(ORDER).start(new Order("lamp"));
    RunHandle<String> expired = kagzi.workflow(ORDER).start(new Order("book"));
    env.settle();
    approved.signal(APPROVAL, new Approval("ann", true));
    env.advance(Duration.ofDays(4));

    assertThat(approved).completedWith("approved by ann");
    assertThat(expired).completedWith("expired");
  }

  @Test
  void a_test_sees_what_was_never_received(KagziEnv env) {
    // docs: signals.md
    RunHandle<String> run = env.kagzi().workflow(ORDER).start(new Order("lamp"));
    run.signal(APPROVAL, new Approval("ann", true), "click-1");
    run.signal(APPROVAL, new Approval("ann", true), "click-1");
    run.signal(APPROVAL, new Approval("bob", true), "click-2");
    env.worker("orders").workflow(ORDER, (ctx, order) -> order(ctx, order)).start();

    assertThat(run).completedWith("approved by ann").hasUnreceivedSignals("approval");
    assertThat(env.signals(run)).extracting(SignalInfo::id).containsExactly("click-1", "click-2");
    // end
  }
}
