package dev.kagzi.engine;

import dev.kagzi.engine.config.DatabaseConfig;
import dev.kagzi.engine.config.NotifierKind;
import dev.kagzi.engine.diagnosis.Diagnosis;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.dispatch.Tasks;
import dev.kagzi.engine.internal.chore.Coordinator;
import dev.kagzi.engine.internal.chore.ExpireOverdue;
import dev.kagzi.engine.internal.chore.FoldRunCounts;
import dev.kagzi.engine.internal.chore.MarkStaleWorkersOffline;
import dev.kagzi.engine.internal.chore.PurgeExpiredRuns;
import dev.kagzi.engine.internal.chore.RedeliverMessages;
import dev.kagzi.engine.internal.chore.RefreshWhenChanged;
import dev.kagzi.engine.internal.chore.ReleaseOrphanedClaims;
import dev.kagzi.engine.internal.chore.RequestPoller;
import dev.kagzi.engine.internal.chore.ScheduleTimer;
import dev.kagzi.engine.internal.chore.ServerHeartbeat;
import dev.kagzi.engine.internal.db.ConnectionFactory;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.dispatch.ClaimRules;
import dev.kagzi.engine.internal.dispatch.DispatchCallbacks;
import dev.kagzi.engine.internal.dispatch.Dispatcher;
import dev.kagzi.engine.internal.journal.Journal;
import dev.kagzi.engine.internal.notification.Notifier;
import dev.kagzi.engine.internal.notification.ServerMessage;
import dev.kagzi.engine.internal.run.CancelRun;
import dev.kagzi.engine.internal.run.DeliverMessages;
import dev.kagzi.engine.internal.run.ExpireRun;
import dev.kagzi.engine.internal.run.LargePayloads;
import dev.kagzi.engine.internal.run.ReportWrite;
import dev.kagzi.engine.internal.run.RunWrite;
import dev.kagzi.engine.internal.run.StartChecks;
import dev.kagzi.engine.internal.run.StepCounts;
import dev.kagzi.engine.internal.run.TakeReason;
import dev.kagzi.engine.internal.schedule.ScheduleFirer;
import dev.kagzi.engine.internal.transition.RunWriter;
import dev.kagzi.engine.metrics.Meters;
import dev.kagzi.engine.namespace.Namespaces;
import dev.kagzi.engine.query.ClusterMetrics;
import dev.kagzi.engine.query.Queries;
import dev.kagzi.engine.request.EndedLogins;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.DefaultVersions;
import dev.kagzi.engine.run.PublishedWatches;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.Reports;
import dev.kagzi.engine.run.RunCompletions;
import dev.kagzi.engine.run.Runs;
import dev.kagzi.engine.schedule.ScheduleStarts;
import dev.kagzi.engine.schedule.Schedules;
import dev.kagzi.engine.thread.EssentialThreads;
import dev.kagzi.engine.thread.ThreadFailure;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.worker.Workers;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The engine of one server. Many can work on one database; none is a leader. Thread-safe. */
public final class Engine implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Engine.class);

  private final Database database;
  private final EssentialThreads threads = new EssentialThreads();
  private final Journal<RunWrite<?>> journal;
  private final StepCounts stepCounts;
  private final DefaultVersions versions;
  private final Dispatcher dispatcher;
  private final RunCompletions completions;
  private final PublishedWatches published;
  private final Namespaces namespaces;
  private final Workers workers;
  private final Runs runs;
  private final Reports reports;
  private final Tasks tasks;
  private final Queries queries;
  private final Diagnosis diagnosis;
  private final Notifier notifier;
  private final ServerHeartbeat heartbeat;
  private final ExpireOverdue expireOverdue;
  private final Schedules schedules;
  private final ScheduleStarts scheduleStarts;
  private final ScheduleTimer scheduleTimer;
  private final RequestPoller requestPoller;
  private final Coordinator coordinator;
  private final Coordinator purger;
  private final Meters meters;
  private final EngineMetrics metrics;
  private final ClusterMetrics clusterMetrics;
  private final RetryPolicy defaultRetryPolicy;
  private final EndedLogins endedLogins;

  private Engine(Database database, EngineConfig config, Meters meters) {
    UUID serverId = RunId.next().value();
    LargePayloads largePayloads = new LargePayloads(config.limits());
    StartChecks startChecks =
        new StartChecks(config.limits(), largePayloads, config.workers().heartbeat().toMillis());
    this.database = database;
    this.meters = meters;
    this.endedLogins = new EndedLogins(database);
    this.defaultRetryPolicy = config.rules().defaultPolicy();
    this.notifier = Notifier.create(config.notifier(), database, serverId, this::receive, threads);
    this.completions =
        new RunCompletions(
            database, config.memory().readBytesMax(), new EndMessages(notifier, meters), threads);
    this.published = new PublishedWatches(database, threads);
    this.namespaces = createNamespaces(config);
    this.versions =
        new DefaultVersions(
            database, config.limits(), () -> notifier.publish(new ServerMessage.Versions()));
    this.stepCounts = new StepCounts(config.limits().stepsPerRunMax());
    this.heartbeat =
        new ServerHeartbeat(database, serverId, notifier, config.rules().stepGraceMs());
    this.expireOverdue = createExpireOverdue(config);
    EngineEvents events = createEvents();
    this.journal = createJournal(config, events, largePayloads);
    this.dispatcher = createDispatcher(config);
    // Before the first write or claim: only sessions opened later know the database's generation.
    database.watchGenerations(
        new GenerationEvents(dispatcher, completions, this::refreshEverything));
    this.workers = createWorkers(config);
    this.queries =
        new Queries(database, config.limits(), config.queryRules(), this::expectRequests);
    this.diagnosis =
        new Diagnosis(
            database,
            config.rules().crashes().delayMaxMs(),
            (namespace, run) -> queries.explain(namespace, run).causes().getFirst().text());
    this.runs =
        new Runs(
            database,
            journal,
            namespaces,
            config.limits(),
            startChecks,
            versions,
            dispatcher::reserve);
    this.requestPoller =
        RequestPoller.of(
            heartbeat, database, runs::startAll, defaultRetryPolicy, runs::signal, threads);
    this.reports = new Reports(journal, config.limits(), startChecks, stepCounts);
    this.scheduleTimer =
        new ScheduleTimer(
            heartbeat,
            new ScheduleFirer(database, config.schedules(), config.coordinatorInterval(), events),
            config.coordinatorInterval(),
            threads);
    this.schedules =
        new Schedules(database, namespaces, config.limits(), largePayloads, scheduleTimer::dueIn);
    this.scheduleStarts = new ScheduleStarts(database, namespaces, config.limits(), events);
    this.tasks = new Tasks(database, dispatcher, namespaces, workers::require, config.limits());
    this.coordinator = createCoordinator(config);
    // Has its own thread, so that a slow purge does not delay the chores of the coordinator.
    this.purger =
        new Coordinator(
            "purge",
            List.of(new PurgeExpiredRuns(database, namespaces, workers, config.retention())),
            config.coordinatorInterval(),
            threads);
    this.metrics = new EngineMetrics(database.metrics(), meters, journal);
    this.clusterMetrics = new ClusterMetrics(database, meters);
    database.bind(meters);
  }

  private Namespaces createNamespaces(EngineConfig config) {
    return new Namespaces(
        database,
        config.limits(),
        config.autoCreateNamespaces(),
        this::namespaceChanged,
        namespace -> notifier.publish(new ServerMessage.Namespace(namespace)));
  }

  private ExpireOverdue createExpireOverdue(EngineConfig config) {
    return new ExpireOverdue(
        heartbeat,
        database,
        config.rules().stepGraceMs(),
        run -> journal.append(new ExpireRun(run)),
        step -> workers.recovery().releaseHung(step));
  }

  private EngineEvents createEvents() {
    return new EngineEvents(
        meters.runs(),
        completions,
        published,
        notifier,
        stepCounts,
        this::deliverMessages,
        expireOverdue::expires,
        () -> dispatcher,
        () -> workers);
  }

  private Journal<RunWrite<?>> createJournal(
      EngineConfig config, EngineEvents events, LargePayloads largePayloads) {
    return new Journal<>(
        database,
        () -> new RunWriter(config.rules(), versions, events, new Random(), largePayloads),
        config.journal(),
        heartbeat::servers,
        meters.journal("runs"),
        threads);
  }

  private Dispatcher createDispatcher(EngineConfig config) {
    return new Dispatcher(
        database,
        config.dispatch(),
        ClaimRules.of(config.workers(), config.rules()),
        new DispatchCallbacks(
            claims -> workers.recovery().take(claims, TakeReason.TASK_NOT_TAKEN),
            run -> workers.recovery().failCrashed(run),
            this::leaseEnded,
            this::admit,
            namespaces::mayDispatch,
            heartbeat::isAlone),
        config.memory(),
        meters.dispatch(),
        threads);
  }

  private Workers createWorkers(EngineConfig config) {
    return new Workers(
        database,
        config.workers(),
        config.limits(),
        namespaces,
        dispatcher,
        notifier,
        journal,
        meters,
        threads);
  }

  private Coordinator createCoordinator(EngineConfig config) {
    return new Coordinator(
        "coordinator",
        List.of(
            heartbeat,
            new MarkStaleWorkersOffline(heartbeat, workers.recovery(), config.workers().stale()),
            new ReleaseOrphanedClaims(heartbeat, workers.recovery(), config.workers().stale()),
            new RedeliverMessages(heartbeat, database, this::deliverMessages),
            expireOverdue,
            new FoldRunCounts(heartbeat, database),
            scheduleTimer,
            requestPoller,
            new RefreshWhenChanged(
                heartbeat::namespacesChangedUs, () -> false, namespaces::refresh),
            new RefreshWhenChanged(heartbeat::typesChangedUs, versions::isStale, versions::read),
            dispatcher.registry()::removeOld,
            workers::evictOld,
            stepCounts::evictOld),
        config.coordinatorInterval(),
        threads);
  }

  /** Migrates the schema without starting an engine; returns the version that it has then. */
  public static String migrate(DatabaseConfig db) {
    try (Database database = Database.open(db)) {
      return database.migrate();
    }
  }

  public static Engine start(DatabaseConfig db, EngineConfig config) {
    return start(db, config, () -> Database.connect(db));
  }

  /** Like {@link #start(DatabaseConfig, EngineConfig)}, with meters in a registry of the caller. */
  public static Engine start(DatabaseConfig db, EngineConfig config, Meters meters) {
    return start(Database.open(db), config, meters, Database::migrate);
  }

  /** For tests: {@code connector} opens the connections that are not in the pool. */
  static Engine start(DatabaseConfig db, EngineConfig config, ConnectionFactory connector) {
    return start(Database.open(db, connector), config, Meters.unpublished(), Database::migrate);
  }

  /**
   * Checks the database and starts an engine without migrating the schema.
   *
   * @throws dev.kagzi.engine.value.SchemaException if the schema is not up to date
   */
  public static Engine startMigrated(DatabaseConfig db, EngineConfig config, Meters meters) {
    return start(Database.open(db), config, meters, Database::checkSchema);
  }

  private static Engine start(
      Database database, EngineConfig config, Meters meters, Consumer<Database> prepareSchema) {
    try {
      prepareSchema.accept(database);
      database.check();
      FoldRunCounts.foldLeftBehind(database);
    } catch (SQLException e) {
      database.close();
      throw new IllegalStateException("database: " + e.getMessage(), e);
    } catch (RuntimeException e) {
      database.close();
      throw e;
    }
    Engine engine = new Engine(database, config, meters);
    try {
      if (config.notifier() == NotifierKind.IN_PROCESS) {
        engine.heartbeat.checkReachable(config.coordinatorInterval());
      }
      engine.notifier.start();
      engine.heartbeat.send();
      engine.scheduleTimer.start();
      engine.requestPoller.start();
      engine.versions.read();
      engine.notifier.announce();
      return engine;
    } catch (RuntimeException e) {
      engine.close();
      throw e;
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

  public ScheduleStarts scheduleStarts() {
    return scheduleStarts;
  }

  public Queries queries() {
    return queries;
  }

  public Diagnosis diagnosis() {
    return diagnosis;
  }

  public DefaultVersions versions() {
    return versions;
  }

  public EndedLogins endedLogins() {
    return endedLogins;
  }

  public RunCompletions completions() {
    return completions;
  }

  public PublishedWatches published() {
    return published;
  }

  /** Applies if neither step nor run has a policy, and to fields that a policy leaves out. */
  public RetryPolicy defaultRetryPolicy() {
    return defaultRetryPolicy;
  }

  public EngineMetrics metrics() {
    return metrics;
  }

  /**
   * Returns the gauges of the database. Call {@code refresh}, which may block, before reading them.
   */
  public ClusterMetrics clusterMetrics() {
    return clusterMetrics;
  }

  /** For tests that move the database's clock: reads what is due, and executes the chores. */
  public void clockMoved() {
    heartbeat.send();
    dispatcher.checkEverything();
    coordinator.runNow();
  }

  /** The threads without which this engine does not work; they notify its owner if one ends. */
  public EssentialThreads threads() {
    return threads;
  }

  public Optional<String> unavailableReason() {
    return threads.failure().map(ThreadFailure::getMessage).or(database::unavailableReason);
  }

  private void expectRequests() {
    requestPoller.expect();
  }

  /** Ends polls and streams, commits the queued writes and deletes the row of this server. */
  @Override
  public void close() {
    threads.close();
    coordinator.close();
    purger.close();
    scheduleTimer.close();
    requestPoller.close();
    dispatcher.close();
    workers.close();
    journal.close();
    try {
      FoldRunCounts.fold(database);
      heartbeat.deregister();
    } catch (RuntimeException unavailable) {
      log.atDebug()
          .addKeyValue("cause", unavailable.getMessage())
          .log("row of this server was not deleted");
    }
    notifier.close();
    completions.close();
    published.close();
    database.close();
  }

  private void receive(ServerMessage message) {
    meters.serverMessageReceived();
    switch (message) {
      case ServerMessage.Work work ->
          dispatcher.runsDue(work.queue(), work.type(), work.delayMs(), work.runs());
      case ServerMessage.Ended ended -> completions.endedElsewhere(ended.runId());
      case ServerMessage.Awaited awaited -> completions.awaitedElsewhere(awaited.runId());
      case ServerMessage.ToWorker toWorker -> workers.sendAttached(toWorker);
      case ServerMessage.Namespace ignored -> namespaces.refresh();
      case ServerMessage.Versions ignored -> versions.refresh();
      case ServerMessage.Everything ignored -> refreshEverything();
    }
  }

  private void refreshEverything() {
    notifier.setOtherServers(1, System.nanoTime());
    namespaces.refresh();
    scheduleTimer.dueIn(0);
    versions.refresh();
    dispatcher.checkEverything();
    completions.refreshAll();
  }

  private void leaseEnded(QueueName queue, TypeVersion type) {
    meters.runs().claimLost(queue.namespace(), type.type(), TakeReason.LEASE_ENDED.name(), true);
  }

  private void deliverMessages(RunId run) {
    journal.append(new DeliverMessages(run));
  }

  /** Starts or stops dispatch of a namespace that this or another server enabled or disabled. */
  private void namespaceChanged(String namespace, boolean enabled) {
    if (enabled) {
      dispatcher.namespaceEnabled(namespace);
      scheduleTimer.dueIn(0);
    } else {
      dispatcher.namespaceDisabled(namespace);
    }
  }

  /**
   * Returns whether a worker may get the task of a claimed run. If not, ends the run: it is
   * cancelled if a cancel was requested and the code of this worker does not clean up. It fails if
   * it has too many steps, because each later claim would read its whole history.
   */
  private boolean admit(QueueName queue, Task task) {
    if (task.cancel() == Task.Cancel.END) {
      journal.append(new CancelRun(queue.namespace(), task.claim().runId(), null));
      return false;
    }
    Optional<Failure> tooManySteps = stepCounts.claimed(task.claim(), task.stepsRecorded());
    tooManySteps.ifPresent(
        failure ->
            journal.append(
                new ReportWrite(queue.namespace(), new Report.Failed(task.claim(), failure))));
    return tooManySteps.isEmpty();
  }
}
