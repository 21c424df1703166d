package dev.kagzi.sdk;

import dev.kagzi.protocol.v1.IdConflictPolicy;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.StartWorkflowResponse;
import dev.kagzi.sdk.internal.client.RunCalls;
import dev.kagzi.sdk.internal.run.NameRules;
import dev.kagzi.sdk.internal.run.StepScope;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Starts runs of one type. The options hold for every start made with this object; an {@link #id}
 * therefore asks for an object of its own. Not thread-safe while options are set.
 *
 * <p>A start that a step's code makes, in the step's own thread, is an ordinary start; the run that
 * it belongs to is shown as the parent. {@link WorkflowContext#child} starts a child that the
 * parent can wait for.
 *
 * <p>Starts are made for many at once: those that threads make at the same time travel together,
 * and {@link #startAsync} in a loop is a bulk start.
 *
 * @param <I> input
 * @param <O> output
 */
public final class WorkflowStarter<I, O> {
  private final RunCalls runs;
  private final List<ClientInterceptor> interceptors;
  private final WorkflowType<I, O> type;
  private StartWorkflowRequest options;
  private String id = "";

  WorkflowStarter(RunCalls runs, WorkflowType<I, O> type, List<ClientInterceptor> interceptors) {
    this.runs = runs;
    this.interceptors = interceptors;
    this.type = type;
    this.options =
        StartWorkflowRequest.newBuilder()
            .setWorkflowType(type.name())
            .setVersion(type.version())
            .setTaskQueue(queue(runs, type))
            .build();
  }

  private static String queue(RunCalls runs, WorkflowType<?, ?> type) {
    return type.queue().equals(Kagzi.DEFAULT_QUEUE)
        ? runs.queueHints().onlyQueueOf(type.name()).orElse(Kagzi.DEFAULT_QUEUE)
        : type.queue();
  }

  /**
   * Makes the start idempotent: while a run with this id is active, a start returns that run
   * instead of making another, unless {@link #ifExists} says otherwise. The server refuses ids that
   * begin with {@code schedule:}, {@code failure-} or {@code system-failure-}: the engine uses
   * them.
   */
  public WorkflowStarter<I, O> id(String id) {
    this.id = NameRules.check("id", id);
    return this;
  }

  /** What happens when the {@link #id} is in use; {@link IdConflict#USE_EXISTING} if not set. */
  public WorkflowStarter<I, O> ifExists(IdConflict policy) {
    IdConflictPolicy wire =
        switch (policy) {
          case USE_EXISTING -> IdConflictPolicy.ID_CONFLICT_POLICY_USE_EXISTING;
          case REJECT -> IdConflictPolicy.ID_CONFLICT_POLICY_REJECT;
          case USE_EXISTING_ANY -> IdConflictPolicy.ID_CONFLICT_POLICY_USE_EXISTING_ANY;
        };
    return with(options -> options.setIdConflictPolicy(wire));
  }

  /**
   * The task queue of the run: a worker of this queue executes it. Without it, the queue that the
   * type carries; else the one on which workers of this client serve the type, if they serve it on
   * one; else {@value Kagzi#DEFAULT_QUEUE}.
   */
  public WorkflowStarter<I, O> queue(String queue) {
    return with(options -> options.setTaskQueue(NameRules.check("queue", queue)));
  }

  /**
   * The policy of steps that have none of their own, and of the run as a whole.
   *
   * <p>A run that fails although its steps were tried again is, with this policy, executed once
   * more after its delay, as often as it allows: completed steps keep their results, failed ones
   * are executed anew. There is one exception: a run whose code caught a step's final failure and
   * then recorded further steps has compensated, and ends as FAILED.
   *
   * <p>Without it steps follow the server's default (3 attempts, after 1 s and 2 s), and a run that
   * fails is not tried again as a whole.
   */
  public WorkflowStarter<I, O> retry(Retry retry) {
    return with(options -> options.setRetryPolicy(ProtoMapper.retryPolicy(retry)));
  }

  /**
   * Short for {@code retry(Retry.exponential(attempts))}. The number counts for both, steps and
   * run: with 3, each step that has no policy of its own is executed up to three times in each of
   * up to three attempts of the run, nine times in all.
   *
   * @param attempts how often a step, and the run, is executed at most, the first time included
   */
  public WorkflowStarter<I, O> retries(int attempts) {
    return retry(Retry.exponential(attempts));
  }

  /**
   * How long the run may take from its start, all waits included. Then it ends as TIMED_OUT and its
   * code is interrupted. Without it, as long as it takes.
   */
  public WorkflowStarter<I, O> executionTimeout(Duration timeout) {
    return with(
        options ->
            options.setExecutionTimeoutMs(ProtoMapper.timeoutMs("executionTimeout", timeout)));
  }

  /**
   * As {@link #executionTimeout}, until an instant of the database's clock. With both, whichever
   * comes first.
   */
  public WorkflowStarter<I, O> deadline(Instant deadline) {
    return with(options -> options.setDeadline(ProtoMapper.timestamp(deadline)));
  }

  /**
   * How long one attempt of a step may take that has no {@linkplain StepBuilder#timeout time-out}
   * of its own. Without it, the server's default of ten minutes.
   */
  public WorkflowStarter<I, O> stepTimeout(Duration timeout) {
    return with(options -> options.setStepTimeoutMs(ProtoMapper.timeoutMs("stepTimeout", timeout)));
  }

  /**
   * How long the run stays with its worker while no server is there to hear either: the lease of
   * the run, which each heartbeat renews. Without it, the server's default of a minute; the server
   * refuses less than three of its heartbeat intervals.
   *
   * <p>It does not make a server wait for a silent worker: such a worker is declared offline after
   * 10 seconds, or 3 when its connection broke, and others take its runs over, whatever is set
   * here.
   */
  public WorkflowStarter<I, O> heartbeatTimeout(Duration timeout) {
    return with(
        options ->
            options.setHeartbeatTimeoutMs(ProtoMapper.timeoutMs("heartbeatTimeout", timeout)));
  }

  /**
   * The workflow that is started when the run ends as FAILED or TIMED_OUT, once for each time that
   * it does; not when it was cancelled or terminated. It goes to the queue that the handler's type
   * carries, else to the queue of this run. Some worker has to serve it there.
   */
  public WorkflowStarter<I, O> onFailure(WorkflowType<WorkflowFailedEvent, ?> handler) {
    boolean carriesQueue = !handler.queue().equals(Kagzi.DEFAULT_QUEUE);
    return onFailureAt(handler, carriesQueue ? handler.queue() : "");
  }

  /** As {@link #onFailure(WorkflowType)}, on a queue of its own. */
  public WorkflowStarter<I, O> onFailure(
      WorkflowType<WorkflowFailedEvent, ?> handler, String queue) {
    return onFailureAt(handler, NameRules.check("queue", queue));
  }

  private WorkflowStarter<I, O> onFailureAt(
      WorkflowType<WorkflowFailedEvent, ?> handler, String queue) {
    if (!handler.version().isEmpty()) {
      throw new IllegalArgumentException(
          "handler: " + handler + " (expected: a type without a version)");
    }
    return with(
        options -> options.setOnFailureWorkflow(handler.name()).setOnFailureTaskQueue(queue));
  }

  private WorkflowStarter<I, O> with(UnaryOperator<StartWorkflowRequest.Builder> option) {
    options = option.apply(options.toBuilder()).build();
    return this;
  }

  /**
   * Starts a run and returns when that is durable. It is sent again until the server has answered,
   * at most for the client's {@link Kagzi.Builder#callTimeout}.
   *
   * @throws RequestRefusedException if the server refuses it
   * @throws RunExistsException if its id is in use and {@link IdConflict#REJECT} was asked for, or
   *     if the run that has it is of another type
   * @throws ServerUnavailableException if no server answered in time
   */
  public RunHandle<O> start(I input) {
    return handle(RunCalls.await(begin(input, id)));
  }

  /** Starts a run without waiting; the future completes on a thread of its own. */
  public CompletableFuture<RunHandle<O>> startAsync(I input) {
    return begin(input, id).thenApplyAsync(this::handle, Kagzi.CALLBACKS);
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
      answers.add(begin(input, idOf.apply(input)));
    }
    CompletableFuture<Void> all =
        CompletableFuture.allOf(answers.toArray(new CompletableFuture<?>[0]));
    RunCalls.await(all.handle((done, error) -> true));
    return answers.stream().map(answer -> handle(RunCalls.await(answer))).toList();
  }

  private CompletableFuture<StartWorkflowResponse> begin(I input, String id) {
    StartWorkflowRequest.Builder request = request(input, id);
    if (interceptors.isEmpty()) {
      return runs.start(request);
    }
    ClientInterceptor.Start start =
        new ClientInterceptor.Start(
            request.getWorkflowType(), request.getVersion(), request.getTaskQueue(), id);
    AtomicReference<@Nullable StartWorkflowResponse> answer = new AtomicReference<>();
    Supplier<CompletableFuture<String>> next =
        () ->
            runs.start(request)
                .thenApply(
                    started -> {
                      answer.set(started);
                      return started.getRunId();
                    });
    for (ClientInterceptor each : interceptors.reversed()) {
      Supplier<CompletableFuture<String>> inner = next;
      next = () -> each.start(start, inner);
    }
    return next.get().thenApply(runId -> started(answer.get(), runId));
  }

  private static StartWorkflowResponse started(
      @Nullable StartWorkflowResponse answer, String runId) {
    if (answer == null || !answer.getRunId().equals(runId)) {
      throw new IllegalStateException(
          "run id: %s (expected: what next gave; was it called?)".formatted(runId));
    }
    return answer;
  }

  private StartWorkflowRequest.Builder request(I input, String id) {
    if (id.isEmpty() && options.getIdConflictPolicyValue() != 0) {
      throw new IllegalStateException("ifExists: without an id (expected: id(..))");
    }
    StartWorkflowRequest.Builder request =
        options.toBuilder()
            .setExternalId(id)
            .setInput(runs.payloads().encodeInput(input, type.inputType()));
    StepScope step = StepScope.current();
    if (step != null && step.run().namespace().equals(runs.namespace())) {
      request.setParentRunId(step.run().runId()).setParentStepId(step.step());
    }
    return request;
  }

  private RunHandle<O> handle(StartWorkflowResponse started) {
    return new RunHandle<>(runs, type, started.getRunId(), started.getAlreadyExists());
  }
}
