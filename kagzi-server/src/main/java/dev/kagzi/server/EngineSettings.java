package dev.kagzi.server;

import static dev.kagzi.server.config.ServerOption.*;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.config.DispatchConfig;
import dev.kagzi.engine.config.JournalConfig;
import dev.kagzi.engine.config.MemoryConfig;
import dev.kagzi.engine.config.NotifierKind;
import dev.kagzi.engine.config.RetentionConfig;
import dev.kagzi.engine.config.ScheduleConfig;
import dev.kagzi.engine.config.TransitionRules;
import dev.kagzi.engine.config.WorkerConfig;
import dev.kagzi.engine.retry.CrashPolicy;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.server.config.Settings;
import java.util.List;
import java.util.Locale;

final class EngineSettings {
  private EngineSettings() {}

  static EngineConfig read(Settings from) {
    return new EngineConfig(
        journal(from),
        dispatch(from),
        workers(from),
        rules(from),
        limits(from),
        from.time(COORDINATOR_INTERVAL),
        from.isOn(AUTO_CREATE_NAMESPACES),
        new RetentionConfig(
            from.time(RETENTION_RUNS), from.time(RETENTION_WORKERS), from.time(RETENTION_INTERVAL)),
        new ScheduleConfig(
            from.integer(COORDINATOR_BATCH_SIZE), from.integer(COORDINATOR_MAX_WORKFLOWS_PER_TICK)),
        MemoryConfig.ofHeap(from.integer(CALL_MEMORY_PERCENT)),
        NotifierKind.valueOf(from.text(NOTIFIER).toUpperCase(Locale.ROOT).replace('-', '_')));
  }

  private static JournalConfig journal(Settings from) {
    return new JournalConfig(
        from.integer(JOURNAL_LANES),
        MemoryConfig.queueBytesMax(from.number(JOURNAL_QUEUE_BYTES_MAX)),
        MemoryConfig.batchBytesMax(from.number(JOURNAL_BATCH_BYTES_MAX)),
        from.integer(JOURNAL_BATCH_WRITES_MAX),
        from.time(JOURNAL_FULL_PATIENCE),
        from.time(JOURNAL_DATABASE_PATIENCE));
  }

  private static DispatchConfig dispatch(Settings from) {
    return new DispatchConfig(
        from.time(POLL_TIMEOUT),
        from.time(WORKER_FIRST_LEASE),
        from.time(POLL_FALLBACK_INTERVAL),
        from.time(POLL_KEEP_SLOTS),
        from.integer(POLL_ANSWER_BYTES_MAX),
        from.integer(DISPATCH_CLAIMERS));
  }

  private static WorkerConfig workers(Settings from) {
    return new WorkerConfig(
        from.time(WORKER_HEARTBEAT_INTERVAL),
        from.time(WORKER_VISIBILITY_TIMEOUT),
        from.time(COORDINATOR_WORKER_STALE_THRESHOLD),
        from.time(WORKER_DETACHED_TIMEOUT));
  }

  private static TransitionRules rules(Settings from) {
    return new TransitionRules(
        new RetryPolicy(
            from.integer(RETRY_ATTEMPTS_MAX),
            from.time(RETRY_DELAY_FIRST).toMillis(),
            from.decimal(RETRY_BACKOFF),
            from.time(RETRY_DELAY_MAX).toMillis(),
            from.decimal(RETRY_JITTER),
            List.of()),
        from.time(SHORT_WAIT).toMillis(),
        new CrashPolicy(
            from.time(CRASH_DELAY_FIRST).toMillis(),
            from.time(CRASH_DELAY_MAX).toMillis(),
            from.integer(CRASH_LIMIT)),
        from.time(STEP_TIMEOUT).toMillis(),
        from.time(STEP_GRACE).toMillis());
  }

  private static Limits limits(Settings from) {
    return new Limits(
        from.integer(PAYLOAD_BYTES_WARN),
        from.integer(PAYLOAD_BYTES_MAX),
        from.integer(NAME_LENGTH_MAX),
        from.integer(EXTERNAL_ID_LENGTH_MAX),
        from.integer(STEP_KEY_LENGTH_MAX),
        from.integer(STEPS_PER_RUN_MAX),
        from.integer(SIGNALS_PER_RUN_MAX),
        from.integer(SIGNAL_BYTES_PER_RUN_MAX),
        from.integer(LABELS_MAX),
        from.integer(LABEL_LENGTH_MAX),
        from.integer(TEXT_LENGTH_MAX));
  }
}
