package dev.kagzi.sdk;

import dev.kagzi.protocol.v1.CreateWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.CreateWorkflowScheduleResponse;
import dev.kagzi.protocol.v1.WorkflowScheduleServiceGrpc;
import dev.kagzi.sdk.internal.log.EventLog;
import dev.kagzi.sdk.internal.run.NameRules;
import dev.kagzi.sdk.internal.wire.Connection;
import dev.kagzi.sdk.internal.wire.Payloads;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import dev.kagzi.sdk.internal.wire.RunIds;
import io.grpc.MethodDescriptor;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * What a schedule shall be: set options, then {@link #create}, {@link #createOrUpdate} or {@link
 * #createOrUpdateWhenConnected}. Not thread-safe.
 *
 * @param <I> input of its runs
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
   * When it fires: five fields (minute, hour, day of month, month, day of week), six with seconds
   * before them, seven with a year behind, or {@code @hourly}, {@code @daily}, {@code @weekly},
   * {@code @monthly}, {@code @yearly}.
   */
  public ScheduleBuilder<I> cron(String expression) {
    request.setCronExpr(expression);
    return this;
  }

  /** The time zone of the expression, by its IANA name; UTC if not set. */
  public ScheduleBuilder<I> zone(String zone) {
    request.setTimeZone(NameRules.check("zone", zone));
    return this;
  }

  /** The same. */
  public ScheduleBuilder<I> zone(ZoneId zone) {
    return zone(zone.getId());
  }

  /** The input of every run; none if not set. */
  public ScheduleBuilder<I> input(I input) {
    request.setInput(payloads.encodeInput(input, type.inputType()));
    return this;
  }

  /** The task queue of the runs. Without it, the queue that the type carries. */
  public ScheduleBuilder<I> queue(String queue) {
    request.setTaskQueue(NameRules.check("queue", queue));
    return this;
  }

  /** What becomes of a slot while an earlier run has not ended; {@link Overlap#ALLOW}. */
  public ScheduleBuilder<I> overlap(Overlap overlap) {
    request.setOverlapPolicy(ProtoMapper.overlap(overlap));
    return this;
  }

  /**
   * How many missed slots become runs after all once there is a server again, the newest of them;
   * 100 if not set. A slot is missed when no server fires it within one coordinator interval (two
   * seconds at least). With 0 missed slots never become runs.
   */
  public ScheduleBuilder<I> maxCatchup(int slots) {
    request.setMaxCatchup(slots);
    return this;
  }

  /**
   * Runs start up to so much after their slot, so that many schedules of one time do not start at
   * once: each always by the same part of it.
   */
  public ScheduleBuilder<I> jitter(Duration jitter) {
    request.setJitterMs(jitter.toMillis());
    return this;
  }

  /** As {@link WorkflowStarter#retry}. */
  public ScheduleBuilder<I> retry(Retry retry) {
    request.setRetryPolicy(ProtoMapper.retryPolicy(retry));
    return this;
  }

  /** As {@link WorkflowStarter#executionTimeout}, from when the run is due. */
  public ScheduleBuilder<I> executionTimeout(Duration timeout) {
    request.setExecutionTimeoutMs(ProtoMapper.timeoutMs("executionTimeout", timeout));
    return this;
  }

  /** As {@link WorkflowStarter#stepTimeout}. */
  public ScheduleBuilder<I> stepTimeout(Duration timeout) {
    request.setStepTimeoutMs(ProtoMapper.timeoutMs("stepTimeout", timeout));
    return this;
  }

  /** As {@link WorkflowStarter#onFailure(WorkflowType)}. */
  public ScheduleBuilder<I> onFailure(WorkflowType<WorkflowFailedEvent, ?> handler) {
    boolean carriesQueue = !handler.queue().equals(Kagzi.DEFAULT_QUEUE);
    request
        .setOnFailureWorkflow(handler.name())
        .setOnFailureTaskQueue(carriesQueue ? handler.queue() : "");
    return this;
  }

  /** It does not fire until it is {@linkplain Schedule#resume resumed}. */
  public ScheduleBuilder<I> paused() {
    request.setEnabled(false);
    return this;
  }

  /** When it would fire next; nothing is saved. */
  public List<Instant> next(int count) {
    return Schedules.next(connection, request.getCronExpr(), request.getTimeZone(), count);
  }

  /**
   * Saves it.
   *
   * @throws RequestRefusedException with {@code ALREADY_EXISTS} if there is one of this name
   */
  public ScheduleInfo create() {
    return save(false);
  }

  /**
   * Saves it, or makes the one that has this name what was said here: for applications that say so
   * whenever they start. One that is paused stays so, and its next slot stays unless expression or
   * zone change.
   *
   * @throws ServerUnavailableException if no server answers within the client's {@link
   *     Kagzi.Builder#callTimeout}; {@link #createOrUpdateWhenConnected} waits instead
   */
  public ScheduleInfo createOrUpdate() {
    return save(true);
  }

  /**
   * As {@link #createOrUpdate}, for applications that start before their server: returns at once,
   * and saves it in the background as soon as a server answers, for as long as the client is open.
   * A refusal is logged as an error as well, for callers who do not look at the future.
   *
   * @return completes when it is saved; fails with {@link RequestRefusedException} if the server
   *     refuses it, with {@link ServerUnavailableException} if the client is closed before
   */
  public CompletableFuture<ScheduleInfo> createOrUpdateWhenConnected() {
    CreateWorkflowScheduleRequest wanted = wanted(true);
    CompletableFuture<ScheduleInfo> saved = new CompletableFuture<>();
    Thread.ofVirtual()
        .name("kagzi-schedule")
        .start(
            () -> {
              try {
                saved.complete(
                    ProtoMapper.schedule(
                        connection.callUntilAnswered(CREATE_SCHEDULE, wanted).getSchedule()));
              } catch (RuntimeException e) {
                if (!(e instanceof ServerUnavailableException)) {
                  log.error("schedule not saved")
                      .with("schedule", wanted.getName())
                      .with("type", wanted.getWorkflowType())
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
    return ProtoMapper.schedule(connection.call(CREATE_SCHEDULE, wanted(orUpdate)).getSchedule());
  }

  // The id is chosen here, so that the call can be sent again until it is answered.
  private CreateWorkflowScheduleRequest wanted(boolean orUpdate) {
    return request
        .setOrUpdate(orUpdate)
        .setScheduleId(RunIds.next(connection.namespace(), request.getName()))
        .build();
  }
}
