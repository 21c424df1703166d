package dev.kagzi.sdk;

import dev.kagzi.protocol.v1.BackfillScheduleRequest;
import dev.kagzi.protocol.v1.DeleteWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.GetWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.PauseWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.ResumeWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.TriggerWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.WorkflowScheduleServiceGrpc;
import dev.kagzi.sdk.internal.client.RunCalls;
import dev.kagzi.sdk.internal.wire.Connection;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import dev.kagzi.sdk.internal.wire.RunIds;
import java.time.Instant;

/**
 * A schedule by its name, whether there is one or not. Thread-safe.
 *
 * <pre>{@code
 * kagzi.schedule("daily-report")
 *     .workflow(REPORT)
 *     .cron("0 9 * * *")
 *     .zone("Europe/Berlin")
 *     .input(new ReportInput("sales"))
 *     .createOrUpdate();
 *
 * kagzi.schedule("daily-report").pause();
 * }</pre>
 *
 * <p>Each slot, a time that the expression names, becomes exactly one run, however many servers
 * there are and whatever happens to them. A name that there is not is refused with {@code
 * NOT_FOUND}: {@link RequestRefusedException#code}.
 */
public final class Schedule {
  private final Connection connection;
  private final RunCalls runs;
  private final String name;

  Schedule(Connection connection, RunCalls runs, String name) {
    this.connection = connection;
    this.runs = runs;
    this.name = name;
  }

  public String name() {
    return name;
  }

  /** What it shall start: the beginning of a new schedule, or of what an old one shall be. */
  public <I> ScheduleBuilder<I> workflow(WorkflowType<I, ?> type) {
    return new ScheduleBuilder<>(connection, runs.payloads(), name, type);
  }

  public ScheduleInfo get() {
    GetWorkflowScheduleRequest request =
        GetWorkflowScheduleRequest.newBuilder()
            .setNamespace(connection.namespace())
            .setName(name)
            .build();
    return ProtoMapper.schedule(
        connection
            .call(WorkflowScheduleServiceGrpc.getGetWorkflowScheduleMethod(), request)
            .getSchedule());
  }

  /** Changes single things of it and leaves the others as they are. */
  public ScheduleChange change() {
    return new ScheduleChange(connection, runs.payloads(), get().id());
  }

  /** From now on it does not fire. A run that is under way goes on. */
  public ScheduleInfo pause() {
    PauseWorkflowScheduleRequest request =
        PauseWorkflowScheduleRequest.newBuilder()
            .setNamespace(connection.namespace())
            .setScheduleId(get().id())
            .build();
    return ProtoMapper.schedule(
        connection
            .call(WorkflowScheduleServiceGrpc.getPauseWorkflowScheduleMethod(), request)
            .getSchedule());
  }

  /** It fires again, and makes up for what it missed, as far as it catches up. */
  public ScheduleInfo resume() {
    ResumeWorkflowScheduleRequest request =
        ResumeWorkflowScheduleRequest.newBuilder()
            .setNamespace(connection.namespace())
            .setScheduleId(get().id())
            .build();
    return ProtoMapper.schedule(
        connection
            .call(WorkflowScheduleServiceGrpc.getResumeWorkflowScheduleMethod(), request)
            .getSchedule());
  }

  /**
   * Starts a run now, paused or not, beside whatever runs. It is for no slot; what comes later may
   * overlap with it.
   *
   * @return the run's id
   */
  public String trigger() {
    String id = get().id();
    TriggerWorkflowScheduleRequest request =
        TriggerWorkflowScheduleRequest.newBuilder()
            .setNamespace(connection.namespace())
            .setScheduleId(id)
            // Chosen here, so that the call can be sent again until it is answered.
            .setRunId(RunIds.nextBeside(id))
            .build();
    return connection
        .call(WorkflowScheduleServiceGrpc.getTriggerWorkflowScheduleMethod(), request)
        .getRunId();
  }

  /**
   * Makes runs at once of all slots from the first time on and before the second that have none,
   * whatever the overlap policy says; at most 10,000.
   *
   * @return how many runs were started
   */
  public int backfill(Instant from, Instant to) {
    BackfillScheduleRequest request =
        BackfillScheduleRequest.newBuilder()
            .setNamespace(connection.namespace())
            .setScheduleId(get().id())
            .setFrom(ProtoMapper.timestamp(from))
            .setTo(ProtoMapper.timestamp(to))
            .build();
    return connection
        .call(WorkflowScheduleServiceGrpc.getBackfillScheduleMethod(), request)
        .getStarted();
  }

  /** Its runs stay; a slot that waits is dropped. */
  public void delete() {
    DeleteWorkflowScheduleRequest request =
        DeleteWorkflowScheduleRequest.newBuilder()
            .setNamespace(connection.namespace())
            .setScheduleId(get().id())
            .build();
    connection.call(WorkflowScheduleServiceGrpc.getDeleteWorkflowScheduleMethod(), request);
  }

  /** The runs that it has started, newest first. */
  public RunList runs() {
    return new RunList(runs).schedule(get().id());
  }
}
