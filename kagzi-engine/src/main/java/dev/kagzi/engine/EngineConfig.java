package dev.kagzi.engine;

import dev.kagzi.engine.config.DispatchConfig;
import dev.kagzi.engine.config.JournalConfig;
import dev.kagzi.engine.config.MemoryConfig;
import dev.kagzi.engine.config.NotifierKind;
import dev.kagzi.engine.config.RetentionConfig;
import dev.kagzi.engine.config.ScheduleConfig;
import dev.kagzi.engine.config.TransitionRules;
import dev.kagzi.engine.config.WorkerConfig;
import dev.kagzi.engine.query.Health;
import dev.kagzi.engine.query.QueryRules;
import dev.kagzi.engine.value.Limits;
import java.time.Duration;

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

  QueryRules queryRules() {
    return new QueryRules(
        new Health.Rules(2 * workers.heartbeat().toMillis(), workers.stale().toMillis()),
        workers.lease().toMillis(),
        dispatch.firstLease().toMillis(),
        rules.crashes().limit(),
        rules.defaultPolicy());
  }

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
    return new EngineConfig(
        journal,
        dispatch,
        workers,
        rules,
        limits,
        coordinatorInterval,
        on,
        retention,
        schedules,
        memory,
        notifier);
  }

  public EngineConfig withDispatch(DispatchConfig other) {
    return new EngineConfig(
        journal,
        other,
        workers,
        rules,
        limits,
        coordinatorInterval,
        autoCreateNamespaces,
        retention,
        schedules,
        memory,
        notifier);
  }

  public EngineConfig withWorkers(WorkerConfig other) {
    return new EngineConfig(
        journal,
        dispatch,
        other,
        rules,
        limits,
        coordinatorInterval,
        autoCreateNamespaces,
        retention,
        schedules,
        memory,
        notifier);
  }

  public EngineConfig withLimits(Limits other) {
    return new EngineConfig(
        journal,
        dispatch,
        workers,
        rules,
        other,
        coordinatorInterval,
        autoCreateNamespaces,
        retention,
        schedules,
        memory,
        notifier);
  }

  public EngineConfig withRules(TransitionRules other) {
    return new EngineConfig(
        journal,
        dispatch,
        workers,
        other,
        limits,
        coordinatorInterval,
        autoCreateNamespaces,
        retention,
        schedules,
        memory,
        notifier);
  }

  public EngineConfig withCoordinatorInterval(Duration other) {
    return new EngineConfig(
        journal,
        dispatch,
        workers,
        rules,
        limits,
        other,
        autoCreateNamespaces,
        retention,
        schedules,
        memory,
        notifier);
  }

  public EngineConfig withSchedules(ScheduleConfig other) {
    return new EngineConfig(
        journal,
        dispatch,
        workers,
        rules,
        limits,
        coordinatorInterval,
        autoCreateNamespaces,
        retention,
        other,
        memory,
        notifier);
  }
}
