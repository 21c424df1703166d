package dev.kagzi.engine;

import dev.kagzi.engine.chore.RetentionConfig;
import dev.kagzi.engine.dispatch.DispatchConfig;
import dev.kagzi.engine.journal.JournalConfig;
import dev.kagzi.engine.memory.MemoryConfig;
import dev.kagzi.engine.notification.NotifierKind;
import dev.kagzi.engine.schedule.ScheduleConfig;
import dev.kagzi.engine.transition.TransitionRules;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.worker.WorkerConfig;
import java.time.Duration;
import java.util.function.Consumer;

/** The configuration of an engine. */
public record EngineConfig(
    JournalConfig journal,
    DispatchConfig dispatch,
    WorkerConfig workers,
    TransitionRules rules,
    Limits limits,
    Duration coordinatorInterval,
    boolean autoCreateNamespaces,
    RetentionConfig retention,
    ScheduleConfig schedules,
    MemoryConfig memory,
    NotifierKind notifier) {

  public static EngineConfig defaults() {
    return new EngineConfig(
        JournalConfig.defaults(),
        DispatchConfig.defaults(),
        WorkerConfig.defaults(),
        TransitionRules.DEFAULT,
        Limits.DEFAULT,
        Duration.ofSeconds(1),
        false,
        RetentionConfig.defaults(),
        ScheduleConfig.defaults(),
        MemoryConfig.defaults(),
        NotifierKind.POSTGRES);
  }

  public EngineConfig withAutoCreateNamespaces(boolean on) {
    return with(draft -> draft.autoCreateNamespaces = on);
  }

  public EngineConfig withJournal(JournalConfig other) {
    return with(draft -> draft.journal = other);
  }

  public EngineConfig withDispatch(DispatchConfig other) {
    return with(draft -> draft.dispatch = other);
  }

  public EngineConfig withWorkers(WorkerConfig other) {
    return with(draft -> draft.workers = other);
  }

  public EngineConfig withLimits(Limits other) {
    return with(draft -> draft.limits = other);
  }

  public EngineConfig withRules(TransitionRules other) {
    return with(draft -> draft.rules = other);
  }

  public EngineConfig withCoordinatorInterval(Duration other) {
    return with(draft -> draft.coordinatorInterval = other);
  }

  public EngineConfig withRetention(RetentionConfig other) {
    return with(draft -> draft.retention = other);
  }

  public EngineConfig withSchedules(ScheduleConfig other) {
    return with(draft -> draft.schedules = other);
  }

  public EngineConfig withMemory(MemoryConfig other) {
    return with(draft -> draft.memory = other);
  }

  public EngineConfig withNotifier(NotifierKind other) {
    return with(draft -> draft.notifier = other);
  }

  private EngineConfig with(Consumer<Draft> change) {
    Draft draft = new Draft();
    change.accept(draft);
    return new EngineConfig(
        draft.journal,
        draft.dispatch,
        draft.workers,
        draft.rules,
        draft.limits,
        draft.coordinatorInterval,
        draft.autoCreateNamespaces,
        draft.retention,
        draft.schedules,
        draft.memory,
        draft.notifier);
  }

  /** A copy of this configuration, to be changed. */
  private final class Draft {
    private JournalConfig journal = EngineConfig.this.journal;
    private DispatchConfig dispatch = EngineConfig.this.dispatch;
    private WorkerConfig workers = EngineConfig.this.workers;
    private TransitionRules rules = EngineConfig.this.rules;
    private Limits limits = EngineConfig.this.limits;
    private Duration coordinatorInterval = EngineConfig.this.coordinatorInterval;
    private boolean autoCreateNamespaces = EngineConfig.this.autoCreateNamespaces;
    private RetentionConfig retention = EngineConfig.this.retention;
    private ScheduleConfig schedules = EngineConfig.this.schedules;
    private MemoryConfig memory = EngineConfig.this.memory;
    private NotifierKind notifier = EngineConfig.this.notifier;
  }
}
