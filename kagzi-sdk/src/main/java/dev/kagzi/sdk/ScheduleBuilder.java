package dev.kagzi.sdk;

import dev.kagzi.protocol.v1.CreateWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.CreateWorkflowScheduleResponse;
import dev.kagzi.protocol.v1.WorkflowScheduleServiceGrpc;
import dev.kagzi.sdk.internal.log.EventLog;
import dev.kagzi.sdk.internal.run.NameRules;
import dev.kagzi.sdk.internal.wire.Connection;
import dev.kagzi.sdk.internal.wire.Payloads;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import io.grpc.MethodDescriptor;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Defines a schedule: set options, then call {@link #create}, {@link #createOrUpdate} or {@link
 * #createOrUpdateWhenConnected}. Not thread-safe.
 *
 * @param <I> input type of the runs
 */
public final class ScheduleBuilder<I> {
  private static final EventLog log = EventLog.of(ScheduleBuilder.class);
  private static final MethodDescriptor<
          CreateWorkflowScheduleRequest, CreateWorkflowScheduleResponse>
      CREATE_SCHEDULE = WorkflowScheduleServiceGrpc.getCreateWorkflowScheduleMethod();

  private final Connection connection;
  private final Payloads payloads;
  private final WorkflowType<I, ?> type;
  private final CreateWorkflowScheduleRequest.Builder request;

  ScheduleBuilder(Connection connection, Payloads payloads, String name, WorkflowType<I, ?> type) {
    this.connection = connection;
    this.payloads = payloads;
    this.type = type;
    this.request =
        CreateWorkflowScheduleRequest.newBuilder()
            .setNamespace(connection.namespace())
            .setName(name)
            .setWorkflowType(type.name())
            .setVersion(type.version())
            .setTaskQueue(type.queue());
  }

  /**
   * Sets the cron expression: five fields (minute, hour, day of month, month, day of week), six
   * with leading seconds, seven with a trailing year, or {@code @hourly}, {@code @daily},
   * {@code @weekly}, {@code @monthly}, {@code @yearly}. If day of month and day of week are both
   * restricted, a day that matches one of them is enough, unlike in Spring.
   */
  public ScheduleBuilder<I> cron(String expression) {
    request.setCronExpr(expression);
    return this;
  }

  /** Sets the time zone of the cron expression by its IANA name; UTC by default. */
  public ScheduleBuilder<I> zone(String zone) {
    request.setTimeZone(NameRules.check("zone", zone));
    return this;
  }

  /** Sets the time zone of the cron expression; UTC by default. */
  public ScheduleBuilder<I> zone(ZoneId zone) {
    return zone(zone.getId());
  }

  /** Sets the input of every run; none by default. */
  public ScheduleBuilder<I> input(I input) {
    request.setInput(payloads.encodeInput(input, type.inputType()));
    return this;
  }

  /** Sets the task queue of the runs; the queue of the workflow type by default. */
  public ScheduleBuilder<I> queue(String queue) {
    request.setTaskQueue(NameRules.check("queue", queue));
    return this;
  }

  /** Sets what happens while an earlier run is open; {@link Overlap#ALLOW} by default. */
  public ScheduleBuilder<I> overlap(Overlap overlap) {
    request.setOverlapPolicy(ProtoMapper.overlap(overlap));
    return this;
  }

  /**
   * Sets how many late slots may become runs; 100 by default. If more are late, only the newest
   * ones are kept, and the others are missed. With {@link Overlap#SKIP} and {@link
   * Overlap#BUFFER_ONE}, only the oldest kept slot may start a run at once. With BUFFER_ONE, the
   * slot after it waits for the end of that run. All others are missed.
   *
   * <p>A slot is late if no server fires it within two seconds, or within the server's {@code
   * coordinator-interval} if that is longer. Slots become late while no server runs or the schedule
   * is paused. With 0, late slots never become runs.
   */
  public ScheduleBuilder<I> maxCatchup(int slots) {
    request.setMaxCatchup(slots);
    return this;
  }

  /**
   * Starts the run of each slot a fixed delay after the slot. The delay is between zero and this
   * duration and differs from schedule to schedule, so that schedules with the same cron expression
   * do not start at the same moment. Triggered, back-filled and buffered runs are not delayed.
   */
  public ScheduleBuilder<I> jitter(Duration jitter) {
    request.setJitterMs(jitter.toMillis());
    return this;
  }

  /** Sets the retry policy of the runs and of their steps: {@link WorkflowStarter#retry}. */
  public ScheduleBuilder<I> retry(Retry retry) {
    request.setRetryPolicy(ProtoMapper.retryPolicy(retry));
    return this;
  }

  /** Sets how long a run may take after it is due: {@link WorkflowStarter#executionTimeout}. */
  public ScheduleBuilder<I> executionTimeout(Duration timeout) {
    request.setExecutionTimeoutMs(ProtoMapper.timeoutMs("executionTimeout", timeout));
    return this;
  }

  /** Sets how long one attempt of a step may take: {@link WorkflowStarter#stepTimeout}. */
  public ScheduleBuilder<I> stepTimeout(Duration timeout) {
    request.setStepTimeoutMs(ProtoMapper.timeoutMs("stepTimeout", timeout));
    return this;
  }

  /**
   * Sets the failure handler of the runs: {@link WorkflowStarter#onFailure(WorkflowType)}.
   *
   * @throws IllegalArgumentException if the handler's type has a version
   */
  public ScheduleBuilder<I> onFailure(WorkflowType<WorkflowFailedEvent, ?> handler) {
    request
        .setOnFailureWorkflow(WorkflowStarter.handlerName(handler))
        .setOnFailureTaskQueue(WorkflowStarter.handlerQueue(handler));
    return this;
  }

  /**
   * Creates the schedule paused; {@link #createOrUpdate} also pauses an existing one. It does not
   * fire until {@link Schedule#resume}.
   */
  public ScheduleBuilder<I> paused() {
    request.setEnabled(false);
    return this;
  }

  /**
   * Returns the next times at which the schedule would fire; nothing is saved.
   *
   * @param count 1 to 1,000
   * @throws RequestRefusedException if the expression is invalid or never fires again
   */
  public List<Instant> next(int count) {
    return Schedules.next(connection, request.getCronExpr(), request.getTimeZone(), count);
  }

  /**
   * Creates the schedule.
   *
   * @return the new schedule; the existing one if it has the same name and content
   * @throws RequestRefusedException with code {@code ALREADY_EXISTS} if a schedule with this name
   *     exists with other content
   */
  public ScheduleInfo create() {
    return save(false);
  }

  /**
   * Creates the schedule, or replaces the definition of the existing schedule with this name:
   * options that are not set get their defaults. {@link Schedule#change} keeps them. Call it at
   * every start of an application. A paused schedule stays paused, and its next slot changes only
   * if the cron expression or the zone changes.
   *
   * @throws ServerUnavailableException if no server answers within the client's {@link
   *     Kagzi.Builder#callTimeout}; {@link #createOrUpdateWhenConnected} waits instead
   */
  public ScheduleInfo createOrUpdate() {
    return save(true);
  }

  /**
   * Like {@link #createOrUpdate}, but returns immediately and saves the schedule in the background
   * as soon as a server answers. Use it in applications that start before their server. A rejection
   * is also logged as an error.
   *
   * @return completes when the schedule is saved; fails with {@link RequestRefusedException} if the
   *     server rejects it, or with {@link ServerUnavailableException} if the client is closed first
   */
  public CompletableFuture<ScheduleInfo> createOrUpdateWhenConnected() {
    CreateWorkflowScheduleRequest create = request.setOrUpdate(true).build();
    CompletableFuture<ScheduleInfo> saved = new CompletableFuture<>();
    Thread.ofVirtual()
        .name("kagzi-schedule")
        .start(
            () -> {
              try {
                saved.complete(
                    ProtoMapper.schedule(
                        connection.callUntilAnswered(CREATE_SCHEDULE, create).getSchedule()));
              } catch (RuntimeException e) {
                if (!(e instanceof ServerUnavailableException)) {
                  log.error("schedule not saved")
                      .with("schedule", create.getName())
                      .with("type", create.getWorkflowType())
                      .with("error", e.getMessage())
                      .cause(e)
                      .write();
                }
                saved.completeExceptionally(e);
              }
            });
    return saved;
  }

  private ScheduleInfo save(boolean orUpdate) {
    return ProtoMapper.schedule(
        connection.call(CREATE_SCHEDULE, request.setOrUpdate(orUpdate).build()).getSchedule());
  }
}
