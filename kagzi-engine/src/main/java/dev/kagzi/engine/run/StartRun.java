package dev.kagzi.engine.run;

import dev.kagzi.engine.value.Origin;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.TypeVersion;
import org.jspecify.annotations.Nullable;

/** The write that brings a run into being. */
public final class StartRun extends RunWrite<StartResult> {
  private final StartRequest request;
  private final Lineage lineage;
  private final @Nullable Handover handover;

  /** Who started the run, and where it reports its end. */
  public record Lineage(Origin origin, @Nullable RunId parent, @Nullable String parentStep) {
    /** A run that a client started. */
    public static final Lineage CLIENT = new Lineage(Origin.CLIENT, null, null);
  }

  /** The request's run id is the caller's, or a new one. */
  public StartRun(RunId runId, StartRequest request, Lineage lineage, @Nullable Handover handover) {
    super(runId, request.input().bytes() + request.externalId().length());
    this.request = request;
    this.lineage = lineage;
    this.handover = handover;
  }

  public StartRequest request() {
    return request;
  }

  public Lineage lineage() {
    return lineage;
  }

  public @Nullable Handover handover() {
    return handover;
  }

  public QueueName queue() {
    return new QueueName(request.namespace(), request.taskQueue());
  }

  public TypeVersion type() {
    return new TypeVersion(request.workflowType(), request.version());
  }
}
