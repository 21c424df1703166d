package dev.kagzi.examples;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.Signal;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A person approves. The run waits for the signal without a thread or a slot of a worker. Without
 * an answer it sends a reminder, and later it gives up.
 */
final class ApprovalExample implements Example {
  record Approval(String by, boolean approved) {}

  static final Signal<Approval> APPROVAL = Signal.of("approval", Approval.class);
  static final WorkflowType<String, String> EXPENSE =
      WorkflowType.of("expense", String.class, String.class).queue("expenses");

  private final Duration patience;
  private final List<String> mails = new CopyOnWriteArrayList<>();

  /** Waits two seconds for each answer. A real workflow would wait for days. */
  ApprovalExample() {
    this(Duration.ofSeconds(2));
  }

  ApprovalExample(Duration patience) {
    this.patience = patience;
  }

  String decide(WorkflowContext ctx, String expense) {
    ctx.step("ask", () -> mail("please approve " + expense));
    Optional<Approval> answer = ctx.receive(APPROVAL, patience);
    if (answer.isEmpty()) {
      ctx.step("remind", () -> mail("reminder: please approve " + expense));
      answer = ctx.receive(APPROVAL, patience);
    }
    return answer
        .map(
            approval ->
                expense + (approval.approved() ? " approved by " : " declined by ") + approval.by())
        .orElse(expense + " declined: no answer");
  }

  private void mail(String text) {
    mails.add(text);
  }

  List<String> mails() {
    return mails;
  }

  @Override
  public String about() {
    return "a person approves by a signal; without an answer the run reminds, then gives up";
  }

  @Override
  @SuppressWarnings("try") // close() stops the worker
  public String run(Kagzi kagzi) {
    try (Worker worker = kagzi.worker("expenses").workflow(EXPENSE, this::decide).start()) {
      RunHandle<String> approved = kagzi.workflow(EXPENSE).start("flight");
      RunHandle<String> forgotten = kagzi.workflow(EXPENSE).start("lunch");
      approved.signal(APPROVAL, new Approval("ann", true));
      return approved.result() + "; " + forgotten.result();
    }
  }
}
