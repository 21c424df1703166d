package dev.kagzi.engine.diagnosis;

import dev.kagzi.engine.diagnosis.Finding.FoundRun;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.diagnosis.IndexChecks;
import dev.kagzi.engine.internal.diagnosis.RunChecks;
import dev.kagzi.engine.internal.diagnosis.ServerChecks;
import dev.kagzi.engine.internal.diagnosis.SettingChecks;
import dev.kagzi.engine.internal.diagnosis.TableChecks;
import dev.kagzi.engine.internal.diagnosis.TransactionChecks;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.SchemaException;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks the database and the runs for known problems. Thread-safe; blocks, and makes one diagnosis
 * at a time.
 */
public final class Diagnosis {
  private static final Logger log = LoggerFactory.getLogger(Diagnosis.class);
  private static final String NOT_ALLOWED = "42501";
  private static final String DELETED = "the run does not exist any more";

  private final Database database;
  private final long crashDelayMsMax;
  private final BiFunction<String, RunId, String> explain;
  private final AtomicReference<@Nullable CompletableFuture<List<Finding>>> running =
      new AtomicReference<>();

  /**
   * @param crashDelayMsMax how long a run may wait after a crash
   * @param explain returns why a run of a namespace does not continue; throws a {@link Refusal} if
   *     the run does not exist
   */
  public Diagnosis(
      Database database, long crashDelayMsMax, BiFunction<String, RunId, String> explain) {
    this.database = database;
    this.crashDelayMsMax = crashDelayMsMax;
    this.explain = explain;
  }

  private interface Checked {
    Finding on(Session session) throws SQLException;
  }

  /**
   * Makes every check and returns one finding for each, in the order of {@link Check}, with an
   * explanation of each run that it names. A check that cannot be made is a warning. If a diagnosis
   * is already being made, returns its result.
   *
   * @param serverClock the clock of this server, which is compared with the database's
   * @throws Refusal UNAVAILABLE if the database does not answer
   */
  public List<Finding> findings(InstantSource serverClock) {
    CompletableFuture<List<Finding>> own = new CompletableFuture<>();
    CompletableFuture<List<Finding>> other = running.compareAndExchange(null, own);
    if (other != null) {
      return result(other);
    }
    try {
      own.complete(make(serverClock));
    } catch (Throwable e) {
      // Also an Error: callers that wait for this diagnosis must not wait forever.
      own.completeExceptionally(e);
    } finally {
      running.set(null);
    }
    return result(own);
  }

  /**
   * Returns whether a statement of the last seconds has succeeded and no later one has found the
   * database unavailable. Sends none.
   */
  public boolean hasDatabaseWorkedLately() {
    return database.hasWorkedLately();
  }

  private static List<Finding> result(CompletableFuture<List<Finding>> diagnosis) {
    try {
      return diagnosis.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      if (e.getCause() instanceof Error cause) {
        throw cause;
      }
      throw e;
    }
  }

  private List<Finding> make(InstantSource serverClock) {
    Optional<String> unavailable = database.unavailableReason();
    if (unavailable.isPresent()) {
      throw Refusal.of(Refusal.Reason.UNAVAILABLE, "database", "", unavailable.get());
    }
    List<Finding> findings = new ArrayList<>();
    Map<FoundRun, FoundRun> explained = new HashMap<>();
    for (Check check : Check.values()) {
      Finding finding = finding(check, serverClock);
      findings.add(
          finding.withRuns(
              finding.runs().stream()
                  .map(run -> explained.computeIfAbsent(run, this::explained))
                  .toList()));
    }
    return List.copyOf(findings);
  }

  private Finding finding(Check check, InstantSource serverClock) {
    try {
      return check == Check.SCHEMA
          ? schema()
          : database.readForUser(session -> onSession(check, serverClock, session));
    } catch (Refusal refusal) {
      return unchecked(check, String.valueOf(refusal.getMessage()), "see the log of the server");
    } catch (RuntimeException failed) {
      // For example of Flyway, which reads the schema's history on a connection of its own.
      log.atWarn().setCause(failed).addKeyValue("check", check).log("a check failed");
      return unchecked(check, "the check failed", "see the log of the server for the reason");
    }
  }

  private FoundRun explained(FoundRun run) {
    if (run.namespace().isEmpty()) {
      return run.withWhy(DELETED);
    }
    try {
      return run.withWhy(explain.apply(run.namespace(), run.runId()));
    } catch (Refusal refusal) {
      return run.withWhy(
          refusal.reason() == Refusal.Reason.NOT_FOUND
              ? DELETED
              : "could not be explained: " + refusal.getMessage());
    } catch (RuntimeException failed) {
      log.atWarn().setCause(failed).addKeyValue("run", run.runId()).log("a run was not explained");
      return run.withWhy("could not be explained: see the log of the server");
    }
  }

  private Finding onSession(Check check, InstantSource serverClock, Session session)
      throws SQLException {
    try {
      return checked(check, serverClock).on(session);
    } catch (SQLException e) {
      if (!NOT_ALLOWED.equals(e.getSQLState())) {
        throw e;
      }
      return unchecked(
          check,
          "the role of the server may not read what the check needs",
          "grant pg_monitor to the role of the server, or make this check yourself");
    }
  }

  private static Finding unchecked(Check check, String reason, String advice) {
    return Finding.warning(check, "could not be checked: " + reason, advice);
  }

  private Checked checked(Check check, InstantSource serverClock) {
    return switch (check) {
      case POSTGRES_VERSION -> session -> new SettingChecks(session).version();
      case SCHEMA -> throw new IllegalArgumentException("check: " + check);
      case INDEXES -> session -> new IndexChecks(session).needed();
      case EXTRA_INDEXES -> session -> new IndexChecks(session).extra();
      case FSYNC -> session -> new SettingChecks(session).fsync();
      case FULL_PAGE_WRITES -> session -> new SettingChecks(session).fullPageWrites();
      case SYNCHRONOUS_COMMIT -> session -> new SettingChecks(session).synchronousCommit();
      case AUTOVACUUM -> session -> new SettingChecks(session).autovacuum();
      case DEAD_ROWS -> session -> new TableChecks(session).deadRows();
      case CONNECTIONS -> session -> new SettingChecks(session).connections();
      case OPEN_TRANSACTIONS -> session -> new TransactionChecks(session).openTransactions();
      case LONG_STATEMENTS -> session -> new TransactionChecks(session).longStatements();
      case PREPARED_TRANSACTIONS ->
          session -> new TransactionChecks(session).preparedTransactions();
      case REPLICATION_SLOTS -> session -> new TransactionChecks(session).replicationSlots();
      case TRANSACTION_IDS -> session -> new TransactionChecks(session).transactionIds();
      case CLOCK -> session -> new ServerChecks(session).clock(serverClock);
      case DISK -> session -> new TableChecks(session).disk();
      case SERVERS -> session -> new ServerChecks(session).alive();
      case DUE_RUNS -> session -> new RunChecks(session).due();
      case BLOCKED_RUNS -> session -> new RunChecks(session).blocked();
      case CRASHING_RUNS -> session -> new RunChecks(session).crashing(crashDelayMsMax);
      case MESSAGES -> session -> new RunChecks(session).messages();
      case SCHEDULES -> session -> new RunChecks(session).schedules();
    };
  }

  /** A newer server may have migrated the schema while this one runs. */
  private Finding schema() {
    try {
      return Finding.ok(Check.SCHEMA, "version " + database.checkSchema());
    } catch (SchemaException wrong) {
      return Finding.failure(
          Check.SCHEMA,
          String.valueOf(wrong.getMessage()),
          "run servers and kagzi migrate of the same version");
    }
  }
}
