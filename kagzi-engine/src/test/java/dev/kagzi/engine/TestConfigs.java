package dev.kagzi.engine;

import dev.kagzi.engine.config.JournalConfig;
import dev.kagzi.engine.config.MemoryConfig;
import dev.kagzi.engine.config.NotifierKind;
import dev.kagzi.engine.config.RetentionConfig;
import org.jspecify.annotations.NullMarked;

/** The default configuration with one part replaced that only tests replace. */
@NullMarked
public final class TestConfigs {
  private TestConfigs() {}

  public static EngineConfig withJournal(JournalConfig journal) {
    EngineConfig usual = EngineConfig.defaults();
    return new EngineConfig(
        journal,
        usual.dispatch(),
        usual.workers(),
        usual.rules(),
        usual.limits(),
        usual.coordinatorInterval(),
        usual.autoCreateNamespaces(),
        usual.retention(),
        usual.schedules(),
        usual.memory(),
        usual.notifier());
  }

  public static EngineConfig withRetention(RetentionConfig retention) {
    EngineConfig usual = EngineConfig.defaults();
    return new EngineConfig(
        usual.journal(),
        usual.dispatch(),
        usual.workers(),
        usual.rules(),
        usual.limits(),
        usual.coordinatorInterval(),
        usual.autoCreateNamespaces(),
        retention,
        usual.schedules(),
        usual.memory(),
        usual.notifier());
  }

  public static EngineConfig withMemory(MemoryConfig memory) {
    EngineConfig usual = EngineConfig.defaults();
    return new EngineConfig(
        usual.journal(),
        usual.dispatch(),
        usual.workers(),
        usual.rules(),
        usual.limits(),
        usual.coordinatorInterval(),
        usual.autoCreateNamespaces(),
        usual.retention(),
        usual.schedules(),
        memory,
        usual.notifier());
  }

  public static EngineConfig withNotifier(NotifierKind notifier) {
    EngineConfig usual = EngineConfig.defaults();
    return new EngineConfig(
        usual.journal(),
        usual.dispatch(),
        usual.workers(),
        usual.rules(),
        usual.limits(),
        usual.coordinatorInterval(),
        usual.autoCreateNamespaces(),
        usual.retention(),
        usual.schedules(),
        usual.memory(),
        notifier);
  }
}
