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
import java.time.Instant;

/**
 * A handle for a schedule, identified by its name: {@link Kagzi#schedule}. The schedule need not
 * exist. Thread-safe.
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
 * <p>A slot is a time at which the cron expression fires. Each slot starts one run, regardless of
 * the number of servers and of crashes, unless the overlap policy or the catch-up limit drops it.
 * Calls fail with {@link RequestRefusedException} and code {@code NOT_FOUND} if the schedule does
 * not exist.
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

  /** Returns the schedule's name. */
  public String name() {
    return name;
  }

  /** Returns a builder that creates or updates this schedule to start runs of the given type. */
  public <I> ScheduleBuilder<I> workflow(WorkflowType<I, ?> type) {
    return new ScheduleBuilder<>(connection, runs.payloads(), name, type);
  }

  /** Returns the schedule's current state. */
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

  /** Returns a builder that changes some options and keeps the others. */
  public ScheduleChange change() {
    return new ScheduleChange(connection, runs.payloads(), get().id());
  }

  /** Pauses the schedule: it does not fire until {@link #resume}. Its running runs continue. */
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

  /**
   * Resumes the schedule. Slots that passed meanwhile are late: {@link ScheduleBuilder#maxCatchup}.
   */
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
   * Starts a run now, even if the schedule is paused or another run is active. The run belongs to
   * no slot. It counts as an earlier run for the overlap policy of later slots.
   *
   * @return the run's id
   */
  public String trigger() {
    TriggerWorkflowScheduleRequest request =
        TriggerWorkflowScheduleRequest.newBuilder()
            .setNamespace(connection.namespace())
            .setScheduleId(get().id())
            .build();
    return connection
        .call(WorkflowScheduleServiceGrpc.getTriggerWorkflowScheduleMethod(), request)
        .getRunId();
  }

  /**
   * Starts the runs of all slots in the range that have none, regardless of the overlap policy.
   *
   * @param from inclusive
   * @param to exclusive; not in the future
   * @return how many runs were started
   * @throws RequestRefusedException if the range has more than 10,000 slots, or ends in the future
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

  /** Deletes the schedule. Its runs are kept; a slot that waits for the end of a run is dropped. */
  public void delete() {
    DeleteWorkflowScheduleRequest request =
        DeleteWorkflowScheduleRequest.newBuilder()
            .setNamespace(connection.namespace())
            .setScheduleId(get().id())
            .build();
    connection.call(WorkflowScheduleServiceGrpc.getDeleteWorkflowScheduleMethod(), request);
  }

  /**
   * Returns a query for the runs that this schedule started, newest first. Asks the server for the
   * schedule's id, so it fails after {@link #delete}: use {@link RunList#schedule} with the id.
   */
  public RunList runs() {
    return new RunList(runs).schedule(get().id());
  }
}
