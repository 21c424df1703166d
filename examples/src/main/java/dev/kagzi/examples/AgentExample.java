package dev.kagzi.examples;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.Signal;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * An agent: a model decides what to do next and a tool does it, until the model has the answer. A
 * person must allow what costs money or cannot be undone. Each answer of the model and each result
 * of a tool is a step, so a recorded one is not repeated after a crash. The agent publishes its
 * progress for readers. The model here is a stub.
 */
final class AgentExample implements Example {
  /** How far the agent is. */
  record Progress(int turn, String doing) {}

  /** What the model wants to do next: use a tool, ask a person, or answer. */
  record Move(Kind kind, String text) {
    enum Kind {
      TOOL,
      ASK,
      ANSWER
    }
  }

  static final String PROGRESS = "progress";
  static final Signal<String> REPLY = Signal.of("reply", String.class);
  static final WorkflowType<String, String> AGENT =
      WorkflowType.of("agent", String.class, String.class).queue("agents");

  private static final int TURNS_MAX = 20;
  private static final Duration PATIENCE = Duration.ofDays(1);

  String work(WorkflowContext ctx, String task) {
    List<String> conversation = new ArrayList<>();
    conversation.add(task);
    for (int turn = 1; turn <= TURNS_MAX; turn++) {
      Move move = ctx.step("think", Move.class, () -> model(conversation));
      ctx.publish(PROGRESS, new Progress(turn, move.text()));
      switch (move.kind()) {
        case TOOL -> conversation.add(ctx.step("tool", String.class, () -> tool(move.text())));
        case ASK -> conversation.add(ctx.receive(REPLY, PATIENCE).orElse("no"));
        case ANSWER -> {
          return move.text();
        }
      }
    }
    return "no answer after " + TURNS_MAX + " turns";
  }

  /** Stands for a call of a model with the conversation so far. */
  private static Move model(List<String> conversation) {
    return switch (conversation.size()) {
      case 1 -> new Move(Move.Kind.TOOL, "search flights");
      case 2 -> new Move(Move.Kind.ASK, "book the flight for 120?");
      default ->
          new Move(
              Move.Kind.ANSWER,
              conversation.getLast().equals("yes")
                  ? "booked " + conversation.get(1)
                  : "not booked");
    };
  }

  private static String tool(String call) {
    return "the flight at 9:15, found by: " + call;
  }

  @Override
  public String about() {
    return "an agent loop (stubbed model) asks a person and publishes its progress";
  }

  @Override
  @SuppressWarnings("try") // close() stops the worker
  public String run(Kagzi kagzi) {
    try (Worker worker = kagzi.worker("agents").workflow(AGENT, this::work).start()) {
      RunHandle<String> run = kagzi.workflow(AGENT).start("a flight to Oslo");
      CompletableFuture<List<Progress>> seen =
          CompletableFuture.supplyAsync(() -> followAndAnswer(run));
      String result = run.result();
      return result + "; the last that was seen: " + seen.join().getLast().doing();
    }
  }

  /** What a page would do: shows the progress, and sends what a person replies. */
  private static List<Progress> followAndAnswer(RunHandle<String> run) {
    List<Progress> seen = new ArrayList<>();
    run.watch(PROGRESS, Progress.class)
        .forEach(
            progress -> {
              seen.add(progress);
              if (progress.doing().endsWith("?")) {
                run.signal(REPLY, "yes", "turn-" + progress.turn());
              }
            });
    return seen;
  }
}
