package dev.kagzi.sdk;

import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.StartWorkflowResponse;
import dev.kagzi.sdk.internal.client.Runs;
import dev.kagzi.sdk.internal.run.Names;
import dev.kagzi.sdk.internal.wire.Protos;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Starts runs of one type. The options hold for every start made with this object; an {@link #id}
 * therefore asks for an object of its own. Not thread-safe while options are set.
 *
 * <p>Starts are made for many at once: those that threads make at the same time travel together,
 * and {@link #startAsync} in a loop is a bulk start.
 *
 * @param <I> input
 * @param <O> output
 */
public final class WorkflowStarter<I, O> {
  private final Runs runs;
  private final WorkflowType<I, O> type;
  private String queue;
  private String id = "";
  private @Nullable Retry retry;

  WorkflowStarter(Runs runs, WorkflowType<I, O> type) {
    this.runs = runs;
    this.type = type;
    this.queue = type.queue();
  }

  /**
   * Makes the start idempotent: while a run with this id is active, a start returns that run
   * instead of making another.
   */
  public WorkflowStarter<I, O> id(String id) {
    this.id = Names.check("id", id);
    return this;
  }

  /**
   * The task queue of the run: a worker of this queue executes it. Without it, the queue that the
   * type carries, else {@value Kagzi#DEFAULT_QUEUE}.
   */
  public WorkflowStarter<I, O> queue(String queue) {
    this.queue = Names.check("queue", queue);
    return this;
  }

  /**
   * The policy of steps that have none of their own. Without it they follow the server's default: 3
   * attempts, after 1 s and 2 s.
   */
  public WorkflowStarter<I, O> retry(Retry retry) {
    this.retry = retry;
    return this;
  }

  /**
   * Starts a run and returns when that is durable. It is sent again until the server has answered,
   * at most for the client's {@link Kagzi.Builder#callTimeout}.
   *
   * @throws RequestRefusedException if the server refuses it
   * @throws ServerUnavailableException if no server answered in time
   */
  public RunHandle<O> start(I input) {
    return handle(Runs.await(runs.start(request(input, id))));
  }

  /** Starts a run without waiting; the future completes on a thread of its own. */
  public CompletableFuture<RunHandle<O>> startAsync(I input) {
    return runs.start(request(input, id)).thenApplyAsync(this::handle, Kagzi.CALLBACKS);
  }

  /**
   * Starts one run per input, in few calls. Not atomic: if one is refused, the others have started.
   *
   * @return handles in the order of the inputs
   * @throws RequestRefusedException the first refusal, once every start was answered
   */
  public List<RunHandle<O>> startAll(List<? extends I> inputs) {
    if (!id.isEmpty() && inputs.size() > 1) {
      throw new IllegalStateException(
          "id: \"%s\" for %d starts (expected: one id each; use startAll(inputs, idOf))"
              .formatted(id, inputs.size()));
    }
    return startAll(inputs, input -> id);
  }

  /** As {@link #startAll(List)}, each with an id of its own. */
  public List<RunHandle<O>> startAll(List<? extends I> inputs, Function<? super I, String> idOf) {
    List<CompletableFuture<StartWorkflowResponse>> answers = new ArrayList<>(inputs.size());
    for (I input : inputs) {
      answers.add(runs.start(request(input, idOf.apply(input))));
    }
    CompletableFuture<Void> all =
        CompletableFuture.allOf(answers.toArray(new CompletableFuture<?>[0]));
    Runs.await(all.handle((done, error) -> true));
    return answers.stream().map(answer -> handle(Runs.await(answer))).toList();
  }

  private StartWorkflowRequest.Builder request(I input, String id) {
    StartWorkflowRequest.Builder request =
        StartWorkflowRequest.newBuilder()
            .setExternalId(id)
            .setTaskQueue(queue)
            .setWorkflowType(type.name())
            .setVersion(type.version())
            .setInput(runs.payloads().encode(input, type.inputType()));
    if (retry != null) {
      request.setRetryPolicy(Protos.retryPolicy(retry));
    }
    return request;
  }

  private RunHandle<O> handle(StartWorkflowResponse started) {
    return new RunHandle<>(runs, type, started.getRunId(), started.getAlreadyExists());
  }
}
