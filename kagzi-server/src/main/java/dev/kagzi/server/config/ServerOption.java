package dev.kagzi.server.config;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Every option of a server. The key is its name in a file, and with two dashes the flag. The
 * variable is {@code KAGZI_} and the key in capitals, unless another name is given.
 */
public enum ServerOption {
  HOST(
      "host",
      "KAGZI_SERVER_HOST",
      new OptionType.Text("ADDRESS"),
      "127.0.0.1",
      "The address that both ports bind to. Any address but loopback requires a token, mutual TLS or insecure."),
  PORT(
      "port",
      "KAGZI_SERVER_PORT",
      new OptionType.Whole(0, 65_535),
      "50051",
      "Port for gRPC; 0 picks a free one."),
  HTTP_PORT(
      "http-port", new OptionType.Whole(0, 65_535), "8484", "Port for HTTP; 0 picks a free one."),
  TOKEN(
      "token",
      new OptionType.Secret(),
      "",
      "The token that callers of gRPC and HTTP must send: authorization: Bearer TOKEN."),
  TOKEN_FILE("token-file", new OptionType.File(), "", "A file whose first line is the token."),
  INSECURE(
      "insecure",
      new OptionType.Switch(),
      "false",
      "Allows a server that listens on more than loopback to run without a token."),
  TLS_CERT(
      "tls-cert",
      new OptionType.File(),
      "",
      "Certificate chain of the server (PEM), for gRPC and HTTP; requires tls-key."),
  TLS_KEY("tls-key", new OptionType.File(), "", "Private key of the server (PEM, PKCS#8)."),
  TLS_CLIENT_CA(
      "tls-client-ca",
      new OptionType.File(),
      "",
      "Authorities (PEM) that sign client certificates: mutual TLS."),
  REFLECTION(
      "reflection", new OptionType.Switch(), "false", "Turns gRPC reflection on; on in dev."),
  CLOSE_TIMEOUT(
      "close-timeout",
      new OptionType.Time("0s", "10m"),
      "10s",
      "How long a stop waits for calls in flight."),
  LOG_LEVEL(
      "log-level",
      new OptionType.Choice(List.of("TRACE", "DEBUG", "INFO", "WARN", "ERROR")),
      "INFO",
      "The level of the log, which goes to standard error."),

  DB_URL(
      "db-url",
      new OptionType.Text("URL"),
      "",
      "PostgreSQL 14 to 18: jdbc:postgresql://… or postgres://user:password@host/db. Not in dev."),
  DB_USER(
      "db-user",
      new OptionType.Text("NAME"),
      "postgres",
      "The user if the URL names none. Not in dev."),
  DB_PASSWORD(
      "db-password", new OptionType.Secret(), "", "The password if the URL has none. Not in dev."),
  DB_POOL_SIZE(
      "db-pool-size",
      new OptionType.Whole(1, 1_000),
      "8",
      "Connections for reading. Writers have their own: journal-lanes, dispatch-claimers, and a"
          + " few."),
  MIGRATE_ON_START(
      "migrate-on-start",
      new OptionType.Switch(),
      "true",
      "Whether a start migrates the schema. If not, run kagzi migrate before. Not in dev."),

  NOTIFIER(
      "notifier",
      new OptionType.Choice(List.of("in-process", "postgres")),
      "postgres",
      "How servers notify each other: by LISTEN and NOTIFY, or in memory. in-process is for a single server: it saves two connections, and a second server refuses to start."),

  AUTO_CREATE_NAMESPACES(
      "auto-create-namespaces",
      new OptionType.Switch(),
      "false",
      "Whether the first use of an unknown namespace creates it; on in dev."),

  COORDINATOR_INTERVAL(
      "coordinator-interval",
      "KAGZI_COORDINATOR_INTERVAL_SECS",
      new OptionType.Time("100ms", "1m"),
      "1s",
      "How often the coordinator runs its periodic work."),
  COORDINATOR_BATCH_SIZE(
      "coordinator-batch-size",
      new OptionType.Whole(1, 10_000),
      "500",
      "How many schedules one transaction fires at most."),
  COORDINATOR_MAX_WORKFLOWS_PER_TICK(
      "coordinator-max-workflows-per-tick",
      new OptionType.Whole(1, 1_000_000),
      "1000",
      "How many missed slots of schedules become runs in one interval; slots on time are not limited."),
  COORDINATOR_WORKER_STALE_THRESHOLD(
      "coordinator-worker-stale-threshold",
      "KAGZI_COORDINATOR_WORKER_STALE_THRESHOLD_SECS",
      new OptionType.Time("1s", "1h"),
      "10s",
      "How long a worker may send no heartbeat before its runs go to other workers."),
  WORKER_HEARTBEAT_INTERVAL(
      "worker-heartbeat-interval",
      "KAGZI_WORKER_HEARTBEAT_INTERVAL_SECS",
      new OptionType.Time("1s", "1m"),
      "3s",
      "How often workers send heartbeats; whole seconds."),
  WORKER_VISIBILITY_TIMEOUT(
      "worker-visibility-timeout",
      "KAGZI_WORKER_VISIBILITY_TIMEOUT_SECS",
      new OptionType.Time("1s", "1d"),
      "60s",
      "The lease: how long a claim lasts without a heartbeat."),
  WORKER_FIRST_LEASE(
      "worker-first-lease",
      new OptionType.Time("1s", "1d"),
      "6s",
      "The lease of a newly dispatched run; the first heartbeat extends it to the full lease."),
  WORKER_DETACHED_TIMEOUT(
      "worker-detached-timeout",
      new OptionType.Time("100ms", "1h"),
      "3s",
      "How long a worker may send no heartbeat after its Attach stream broke."),

  POLL_TIMEOUT(
      "poll-timeout", new OptionType.Time("1s", "10m"), "60s", "The longest wait of a poll."),
  POLL_FALLBACK_INTERVAL(
      "poll-fallback-interval",
      new OptionType.Time("100ms", "1m"),
      "2s",
      "How often waiting polls query for runs without a notification."),
  POLL_LINGER(
      "poll-linger",
      new OptionType.Time("0s", "1m"),
      "1s",
      "How long a worker's free slots are kept for it between two polls."),
  POLL_ANSWER_BYTES_MAX(
      "poll-answer-bytes-max",
      new OptionType.Bytes("64KiB", "4MiB"),
      "3MiB",
      "The most bytes in one response to a poll."),
  DISPATCH_CLAIMERS(
      "dispatch-claimers",
      new OptionType.Whole(1, 64),
      "2",
      "Threads, each with a connection, that claim runs."),

  JOURNAL_LANES(
      "journal-lanes",
      new OptionType.Whole(1, 64),
      "2",
      "Serial writers, each with a connection; more lanes than CPU cores do not help."),
  CALL_MEMORY_PERCENT(
      "call-memory-percent",
      new OptionType.Whole(5, 50),
      "25",
      "The share of the heap for requests, responses and tasks in flight; calls above it are refused with RESOURCE_EXHAUSTED."),
  JOURNAL_QUEUE_BYTES_MAX(
      "journal-queue-bytes-max",
      new OptionType.Bytes("8MiB", "16GiB"),
      "64MiB",
      "The most bytes that wait to be written, in all lanes together; an eighth of the heap if that is less."),
  JOURNAL_BATCH_BYTES_MAX(
      "journal-batch-bytes-max",
      new OptionType.Bytes("64KiB", "256MiB"),
      "8MiB",
      "The most bytes in one transaction; a 32nd of the heap if that is less."),
  JOURNAL_BATCH_WRITES_MAX(
      "journal-batch-writes-max",
      new OptionType.Whole(1, 100_000),
      "2000",
      "The most writes in one transaction."),
  JOURNAL_FULL_PATIENCE(
      "journal-full-patience",
      new OptionType.Time("0s", "10m"),
      "5s",
      "How long a call waits when the journal queue is full."),
  JOURNAL_DATABASE_PATIENCE(
      "journal-database-patience",
      new OptionType.Time("0s", "10m"),
      "10s",
      "How long a batch waits for an unreachable database."),

  RETRY_ATTEMPTS_MAX(
      "retry-attempts-max",
      new OptionType.Times(1_000_000),
      "3",
      "Attempts of a step if neither the step nor its run has a policy, or the policy leaves them out; 1 is no retry, -1 no limit. The other retry- options apply in the same way."),
  RETRY_DELAY_FIRST(
      "retry-delay-first",
      new OptionType.Time("0s", "365d"),
      "1s",
      "The delay before a step's second attempt."),
  RETRY_BACKOFF(
      "retry-backoff",
      new OptionType.Decimal(1, 1_000),
      "2.0",
      "The factor by which each further delay grows."),
  RETRY_DELAY_MAX(
      "retry-delay-max", new OptionType.Time("0s", "365d"), "60s", "The longest retry delay."),
  RETRY_JITTER(
      "retry-jitter",
      new OptionType.Decimal(0, 1),
      "0.25",
      "The share by which a delay varies at random, up or down."),
  SHORT_WAIT(
      "short-wait",
      new OptionType.Time("0s", "1m"),
      "1s",
      "A worker keeps its run during sleeps and retry delays below this."),
  CRASH_LIMIT(
      "crash-limit",
      new OptionType.Whole(0, 1_000_000),
      "10",
      "How many workers in a row may die with a run that records no step; then the run fails."),
  CRASH_DELAY_FIRST(
      "crash-delay-first",
      new OptionType.Time("0s", "1d"),
      "1s",
      "The delay after the second worker died with a run; it doubles with each further one."),
  CRASH_DELAY_MAX(
      "crash-delay-max",
      new OptionType.Time("0s", "1d"),
      "60s",
      "The longest delay after a worker died with a run."),
  STEP_TIMEOUT(
      "step-timeout",
      new OptionType.Time("1s", "365d"),
      "10m",
      "How long an attempt of a step may take if neither the step nor its run sets a timeout."),
  STEP_GRACE(
      "step-grace",
      new OptionType.Time("0s", "1h"),
      "5s",
      "How long after its timeout the server ends an attempt that its worker did not end."),
  RETENTION_RUNS(
      "retention-runs",
      new OptionType.Time("0s", "36500d"),
      "30d",
      "How long runs are kept after their end, unless their namespace sets another time; 0s: forever."),
  RETENTION_WORKERS(
      "retention-workers",
      new OptionType.Time("0s", "36500d"),
      "7d",
      "How long workers are kept after they went offline; 0s: forever."),
  RETENTION_INTERVAL(
      "retention-interval",
      new OptionType.Time("1s", "1d"),
      "10m",
      "How often expired runs and workers are purged."),

  PAYLOAD_BYTES_WARN(
      "payload-bytes-warn",
      new OptionType.Bytes("1B", "4MiB"),
      "1MiB",
      "Larger payloads are logged, once an hour for each workflow type; at most payload-bytes-max."),
  PAYLOAD_BYTES_MAX(
      "payload-bytes-max",
      new OptionType.Bytes("1KiB", "4MiB"),
      "2MiB",
      "The most bytes of data and metadata of one payload."),
  NAME_LENGTH_MAX(
      "name-length-max",
      new OptionType.Whole(1, 200),
      "200",
      "The most characters of a namespace, a queue, a workflow type, a version."),
  EXTERNAL_ID_LENGTH_MAX(
      "external-id-length-max",
      new OptionType.Whole(1, 500),
      "500",
      "The most characters of a run's external id."),
  STEP_KEY_LENGTH_MAX(
      "step-key-length-max",
      new OptionType.Whole(1, 500),
      "500",
      "The most characters of a step's key."),
  STEPS_PER_RUN_MAX(
      "steps-per-run-max",
      new OptionType.Whole(1, 10_000_000),
      "100000",
      "The most recorded steps of one run."),
  LABELS_MAX(
      "labels-max",
      new OptionType.Whole(1, 10_000),
      "100",
      "The most entries of one map of labels or metadata."),
  LABEL_LENGTH_MAX(
      "label-length-max",
      new OptionType.Whole(1, 100_000),
      "1000",
      "The most characters of each key and each value of labels."),
  TEXT_LENGTH_MAX(
      "text-length-max",
      new OptionType.Whole(1, 1_000_000),
      "4096",
      "The most characters of descriptions and reasons.");

  private static final String PREFIX = "KAGZI_";

  private final String key;
  private final String variable;

  @SuppressWarnings("ImmutableEnumChecker") // Option types are records of values.
  private final OptionType type;

  private final String defaultValue;
  private final String description;

  ServerOption(String key, OptionType type, String defaultValue, String description) {
    this(
        key,
        PREFIX + key.toUpperCase(Locale.ROOT).replace('-', '_'),
        type,
        defaultValue,
        description);
  }

  ServerOption(
      String key, String variable, OptionType type, String defaultValue, String description) {
    this.key = key;
    this.variable = variable;
    this.type = type;
    this.defaultValue = defaultValue;
    this.description = description;
  }

  /** Returns its name in a file. */
  public String key() {
    return key;
  }

  /** Returns its name on the command line; empty for a secret, which process lists would show. */
  public Optional<String> flag() {
    return isSecret() ? Optional.empty() : Optional.of("--" + key);
  }

  /** Returns its name in the environment. */
  public String variable() {
    return variable;
  }

  public OptionType type() {
    return type;
  }

  /** Returns the default value; empty for none. */
  public String defaultValue() {
    return defaultValue;
  }

  /** Returns its description for help and documentation. */
  public String description() {
    return description;
  }

  /** Whether its value is never shown. */
  public boolean isSecret() {
    return type instanceof OptionType.Secret;
  }

  static Optional<ServerOption> byKey(String key) {
    return Arrays.stream(values()).filter(option -> option.key.equals(key)).findFirst();
  }

  static List<String> keys() {
    return Arrays.stream(values()).map(ServerOption::key).toList();
  }
}
