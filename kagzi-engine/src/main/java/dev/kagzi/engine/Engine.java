package dev.kagzi.engine;

import dev.kagzi.engine.chore.Coordinator;
import dev.kagzi.engine.chore.ExpireOverdue;
import dev.kagzi.engine.chore.FireSchedules;
import dev.kagzi.engine.chore.FoldRunCounts;
import dev.kagzi.engine.chore.MarkStaleWorkersOffline;
import dev.kagzi.engine.chore.PurgeExpiredRuns;
import dev.kagzi.engine.chore.RedeliverMessages;
import dev.kagzi.engine.chore.RefreshNamespaces;
import dev.kagzi.engine.chore.RefreshVersions;
import dev.kagzi.engine.chore.ReleaseOrphanedClaims;
import dev.kagzi.engine.chore.ServerHeartbeat;
import dev.kagzi.engine.db.ConnectionFactory;
import dev.kagzi.engine.db.Database;
import dev.kagzi.engine.db.DatabaseConfig;
import dev.kagzi.engine.dispatch.ClaimRules;
import dev.kagzi.engine.dispatch.Dispatcher;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.dispatch.Tasks;
import dev.kagzi.engine.journal.Journal;
import dev.kagzi.engine.message.DeliverMessages;
import dev.kagzi.engine.namespace.Namespaces;
import dev.kagzi.engine.notification.InProcessNotifier;
import dev.kagzi.engine.notification.Notifier;
import dev.kagzi.engine.notification.NotifierKind;
import dev.kagzi.engine.notification.PostgresNotifier;
import dev.kagzi.engine.notification.ServerMessage;
import dev.kagzi.engine.query.Health;
import dev.kagzi.engine.query.Queries;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.DefaultVersions;
import dev.kagzi.engine.run.LargePayloads;
import dev.kagzi.engine.run.RunCompletions;
import dev.kagzi.engine.run.RunWrite;
import dev.kagzi.engine.run.Runs;
import dev.kagzi.engine.run.StartChecks;
import dev.kagzi.engine.schedule.ScheduleFirer;
import dev.kagzi.engine.schedule.Schedules;
import dev.kagzi.engine.thread.EssentialThreads;
import dev.kagzi.engine.thread.ThreadFailure;
import dev.kagzi.engine.transition.ExpireRun;
import dev.kagzi.engine.transition.ExpireStep;
import dev.kagzi.engine.transition.FailCrashedRun;
import dev.kagzi.engine.transition.ReleaseClaim;
import dev.kagzi.engine.transition.Report;
import dev.kagzi.engine.transition.ReportWrite;
import dev.kagzi.engine.transition.Reports;
import dev.kagzi.engine.transition.RunWriter;
import dev.kagzi.engine.transition.StepCounts;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.worker.Workers;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One server's engine. Any number of them work on one database; none is special.
 *
 * <p>Thread-safe.
 */
public final class Engine implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Engine.class);

  private final Database database;
  private final EssentialThreads threads = new EssentialThreads();
  private final Journal<RunWrite<?>> journal;
  private final StepCounts stepCounts;
  private final DefaultVersions versions;
  private final Dispatcher gates;
  private final RunCompletions endings;
  private final Namespaces namespaces;
  private final Workers workers;
  private final Runs runs;
  private final Reports reports;
  private final Tasks tasks;
  private final Queries queries;
  private final Notifier notifier;
  private final ServerHeartbeat pulse;
  private final Schedules schedules;
  private final FireSchedules fireSchedules;
  private final Coordinator coordinator;
  private final Coordinator janitor;
  private final EngineMetrics meter;
  private final RetryPolicy defaultRetryPolicy;

  private Engine(Database database, EngineConfig config) {
    this.database = database;
    this.defaultRetryPolicy = config.rules().defaultPolicy();
    UUID serverId = RunId.next().value();
    this.endings = new RunCompletions(database, config.memory().readBytesMax(), threads);
    this.namespaces =
        new Namespaces(
            database,
            config.limits(),
            config.autoCreateNamespaces(),
            this::openOrShut,
            this::tellOfNamespace);
    this.notifier =
        switch (config.notifier()) {
          case POSTGRES -> new PostgresNotifier(database, serverId, this::hear, threads);
          case IN_PROCESS ->
              new InProcessNotifier(database.address(), serverId, this::hear, threads);
        };
    this.versions =
        new DefaultVersions(
            database, config.limits(), () -> notifier.tell(new ServerMessage.Versions()));
    this.stepCounts = new StepCounts(config.limits().stepsPerRunMax());
    this.pulse = new ServerHeartbeat(database, serverId, notifier, config.rules().stepGraceMs());
    ExpireOverdue endOverdue =
        new ExpireOverdue(
            pulse,
            database,
            config.rules().stepGraceMs(),
            run -> append(new ExpireRun(run)),
            step -> append(new ExpireStep(step)));
    LargePayloads large = new LargePayloads(config.limits());
    EngineEvents wiring =
        new EngineEvents(endings, notifier, stepCounts, this::deliver, endOverdue::expires);
    this.journal =
        new Journal<>(
            database,
            () -> new RunWriter(config.rules(), versions, wiring, new Random(), large),
            config.journal(),
            threads);
    this.gates =
        new Dispatcher(
            database,
            config.dispatch(),
            new ClaimRules(
                config.workers().lease().toMillis(),
                config.rules().crashes(),
                config.rules().stepTimeoutMs()),
            claims -> free(claims, ReleaseClaim.Cause.NOT_TAKEN),
            run -> append(new FailCrashedRun(run)),
            this::admit,
            namespaces::isOpen,
            config.memory(),
            threads);
    this.workers =
        new Workers(
            database,
            config.workers(),
            config.limits(),
            namespaces,
            gates,
            notifier,
            this::free,
            journal::append,
            threads);
    wiring.connect(gates, workers);
    this.queries =
        new Queries(
            database,
            config.limits(),
            new Health.Rules(
                2 * config.workers().heartbeat().toMillis(), config.workers().stale().toMillis()),
            config.workers().lease().toMillis());
    StartChecks starts =
        new StartChecks(config.limits(), large, config.workers().heartbeat().toMillis());
    this.runs =
        new Runs(database, journal, namespaces, config.limits(), starts, versions, gates::reserve);
    this.reports = new Reports(journal, config.limits(), starts, stepCounts);
    this.fireSchedules =
        new FireSchedules(
            pulse,
            new ScheduleFirer(database, config.schedules(), config.coordinatorInterval(), wiring),
            config.coordinatorInterval(),
            threads);
    this.schedules =
        new Schedules(database, namespaces, config.limits(), large, wiring, fireSchedules::dueIn);
    this.tasks = new Tasks(database, gates, namespaces, workers::require, config.limits());
    this.coordinator =
        new Coordinator(
            "coordinator",
            List.of(
                pulse,
                new MarkStaleWorkersOffline(pulse, workers, config.workers().stale()),
                new ReleaseOrphanedClaims(workers, config.workers().stale()),
                new RedeliverMessages(pulse, database, this::deliver),
                endOverdue,
                new FoldRunCounts(pulse, database),
                fireSchedules,
                new RefreshNamespaces(pulse, namespaces::renew),
                new RefreshVersions(pulse, versions),
                gates.book()::forgetOld,
                workers::forgetOld,
                stepCounts::forgetOld),
            config.coordinatorInterval(),
            threads);
    // On a thread of its own: what it does may take a while, and nobody waits for it.
    this.janitor =
        new Coordinator(
            "purge",
            List.of(new PurgeExpiredRuns(database, namespaces, workers, config.retention())),
            config.coordinatorInterval(),
            threads);
    this.meter = new EngineMetrics(database.meter(), gates.meter(), journal);
  }

  /** Migrates, checks the database, and starts. */
  public static Engine start(DatabaseConfig db, EngineConfig config) {
    return start(db, config, () -> Database.connect(db));
  }

  /** The same with writers' connections from the given place. */
  public static Engine start(DatabaseConfig db, EngineConfig config, ConnectionFactory connector) {
    return start(Database.open(db, connector), config, Database::migrate);
  }

  /** Checks the database, whose schema must be up to date, and starts. */
  public static Engine startMigrated(DatabaseConfig db, EngineConfig config) {
    return start(Database.open(db), config, Database::checkSchema);
  }

  private static Engine start(
      Database database, EngineConfig config, Consumer<Database> prepareSchema) {
    try {
      prepareSchema.accept(database);
      database.check();
    } catch (SQLException e) {
      database.close();
      throw new IllegalStateException("database: " + e.getMessage(), e);
    } catch (RuntimeException e) {
      database.close();
      throw e;
    }
    Engine engine = new Engine(database, config);
    try {
      if (config.notifier() == NotifierKind.IN_PROCESS) {
        engine.pulse.checkReach(config.coordinatorInterval());
      }
      engine.notifier.start();
      engine.pulse.take();
      engine.fireSchedules.start();
      engine.versions.read();
      // The others have been silent while they were alone: now there is somebody to tell.
      engine.notifier.tell(new ServerMessage.Everything());
      return engine;
    } catch (RuntimeException e) {
      engine.close();
      throw e;
    }
  }

  private void hear(ServerMessage notice) {
    switch (notice) {
      case ServerMessage.Work work -> gates.someDue(work.queue(), work.type(), work.delayMs());
      case ServerMessage.Ended ended -> endings.endedElsewhere(ended.runId());
      case ServerMessage.Stop stop ->
          workers.stopAttached(stop.worker(), stop.claim(), stop.status());
      case ServerMessage.Wake wake -> workers.wakeAttached(wake.worker(), wake.claim());
      case ServerMessage.Drain drain -> workers.drainAttached(drain.worker());
      case ServerMessage.Namespace ignored -> namespaces.renew();
      case ServerMessage.Versions ignored -> versions.renew();
      case ServerMessage.Everything ignored -> {
        notifier.others(1);
        namespaces.renew();
        fireSchedules.dueIn(0);
        versions.renew();
        gates.lookAtEverything();
        endings.lookAtEverything();
      }
    }
  }

  private void openOrShut(String namespace, boolean enabled) {
    if (enabled) {
      gates.open(namespace);
      fireSchedules.dueIn(0);
    } else {
      gates.shut(namespace);
    }
  }

  private void tellOfNamespace(String namespace) {
    notifier.tell(new ServerMessage.Namespace(namespace));
  }

  private void deliver(RunId run) {
    append(new DeliverMessages(run));
  }

  private void append(RunWrite<?> write) {
    journal.append(write);
  }

  /**
   * A run with more steps than the limit is not executed any further: it fails. Its history would
   * be read by every claim.
   */
  private boolean admit(QueueName queue, Task task) {
    Optional<Failure> tooMany = stepCounts.claimed(task.claim(), task.stepsRecorded());
    tooMany.ifPresent(
        why -> {
          Report failed = new Report.Failed(task.claim(), why);
          journal.append(new ReportWrite(queue.namespace(), failed));
        });
    return tooMany.isEmpty();
  }

  private void free(List<Claim> claims, ReleaseClaim.Cause cause) {
    List<RunWrite<?>> writes = new ArrayList<>(claims.size());
    claims.forEach(claim -> writes.add(new ReleaseClaim(claim, cause)));
    if (!writes.isEmpty()) {
      journal.append(writes);
    }
  }

  public Runs runs() {
    return runs;
  }

  public Reports reports() {
    return reports;
  }

  public Tasks tasks() {
    return tasks;
  }

  public Workers workers() {
    return workers;
  }

  public Namespaces namespaces() {
    return namespaces;
  }

  public Schedules schedules() {
    return schedules;
  }

  public Queries queries() {
    return queries;
  }

  public DefaultVersions versions() {
    return versions;
  }

  public RunCompletions endings() {
    return endings;
  }

  /**
   * What holds where neither step nor run have a policy, and for fields that a policy leaves out.
   */
  public RetryPolicy defaultRetryPolicy() {
    return defaultRetryPolicy;
  }

  public EngineMetrics meter() {
    return meter;
  }

  /** For tests that move the database's clock: whatever waits for a time looks at it anew. */
  public void clockMoved() {
    pulse.take();
    gates.lookAtEverything();
    coordinator.runNow();
  }

  /** The threads that this engine cannot do without; its owner is told of one that ends. */
  public EssentialThreads threads() {
    return threads;
  }

  /** Why this engine cannot work now, or nothing. */
  public Optional<String> trouble() {
    return threads.failure().map(ThreadFailure::getMessage).or(database::trouble);
  }

  /** Ends polls and streams, writes what waits, and leaves. */
  @Override
  public void close() {
    threads.close();
    coordinator.close();
    janitor.close();
    fireSchedules.close();
    gates.close();
    workers.close();
    journal.close();
    try {
      pulse.leave();
    } catch (RuntimeException away) {
      log.atDebug().addKeyValue("cause", away.getMessage()).log("leaving was not recorded");
    }
    notifier.close();
    endings.close();
    database.close();
  }
}
