package dev.kagzi.server.config;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Every option of a server. The key is its name in a file, and with two dashes the flag; the
 * variable is the key in capitals after {@code KAGZI_}, unless an older name is kept.
 */
public enum ServerOption {
  HOST(
      "host",
      "KAGZI_SERVER_HOST",
      new OptionType.Text("ADDRESS"),
      "127.0.0.1",
      "Where both ports are bound. Any but a loopback address wants a token, mutual TLS or"
          + " insecure."),
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
      "What callers of gRPC and HTTP have to show: authorization: Bearer TOKEN."),
  TOKEN_FILE("token-file", new OptionType.File(), "", "A file whose first line is the token."),
  INSECURE(
      "insecure",
      new OptionType.Switch(),
      "false",
      "Lets a server that others can reach do without a token."),
  TLS_CERT(
      "tls-cert",
      new OptionType.File(),
      "",
      "Certificate chain of the server (PEM), for gRPC and HTTP; wants tls-key."),
  TLS_KEY("tls-key", new OptionType.File(), "", "Private key of the server (PEM, PKCS#8)."),
  TLS_CLIENT_CA(
      "tls-client-ca",
      new OptionType.File(),
      "",
      "Authorities (PEM) by which clients' certificates are checked: mutual TLS."),
  REFLECTION(
      "reflection",
      new OptionType.Switch(),
      "false",
      "Lets clients ask for the protocol's descriptors; on in dev."),
  CLOSE_TIMEOUT(
      "close-timeout",
      new OptionType.Time("0s", "10m"),
      "10s",
      "How long a stop waits for calls under way."),
  LOG_LEVEL(
      "log-level",
      new OptionType.Choice(List.of("TRACE", "DEBUG", "INFO", "WARN", "ERROR")),
      "INFO",
      "What is logged, to standard error."),

  DB_URL(
      "db-url",
      new OptionType.Text("URL"),
      "",
      "PostgreSQL 14 to 18: jdbc:postgresql://… or postgres://user:password@host/db. Not in dev."),
  DB_USER(
      "db-user",
      new OptionType.Text("NAME"),
      "postgres",
      "For a url that names no user. Not in dev."),
  DB_PASSWORD(
      "db-password", new OptionType.Secret(), "", "For a url that has no password. Not in dev."),
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
      "Whether a start brings the schema up to date. If not, it has to be: kagzi migrate. Not in"
          + " dev."),

  NOTIFIER(
      "notifier",
      new OptionType.Choice(List.of("in-process", "postgres")),
      "postgres",
      "How servers notify each other: by LISTEN and NOTIFY, or in memory. in-process is for a"
          + " single server: it saves two connections, and a start beside another server is"
          + " refused."),

  AUTO_CREATE_NAMESPACES(
      "auto-create-namespaces",
      new OptionType.Switch(),
      "false",
      "Whether a namespace comes into being with its first use; on in dev."),

  COORDINATOR_INTERVAL(
      "coordinator-interval",
      "KAGZI_COORDINATOR_INTERVAL_SECS",
      new OptionType.Time("100ms", "1m"),
      "1s",
      "How often the periodic duties are looked after."),
  COORDINATOR_BATCH_SIZE(
      "coordinator-batch-size",
      new OptionType.Whole(1, 10_000),
      "500",
      "How many schedules one transaction fires at most."),
  COORDINATOR_MAX_WORKFLOWS_PER_TICK(
      "coordinator-max-workflows-per-tick",
      new OptionType.Whole(1, 1_000_000),
      "1000",
      "How many missed slots of schedules become runs in one interval; those on time are not"
          + " limited."),
  COORDINATOR_WORKER_STALE_THRESHOLD(
      "coordinator-worker-stale-threshold",
      "KAGZI_COORDINATOR_WORKER_STALE_THRESHOLD_SECS",
      new OptionType.Time("1s", "1h"),
      "10s",
      "How long a worker may be silent before its runs go to others."),
  WORKER_HEARTBEAT_INTERVAL(
      "worker-heartbeat-interval",
      "KAGZI_WORKER_HEARTBEAT_INTERVAL_SECS",
      new OptionType.Time("1s", "1m"),
      "3s",
      "How often workers are told to beat; whole seconds."),
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
      "The lease of a run that was just handed out; a heartbeat makes it full."),
  WORKER_DETACHED_TIMEOUT(
      "worker-detached-timeout",
      new OptionType.Time("100ms", "1h"),
      "3s",
      "How long a worker may be silent after its stream broke."),

  POLL_TIMEOUT(
      "poll-timeout", new OptionType.Time("1s", "10m"), "60s", "How long a poll waits at most."),
  POLL_FALLBACK_INTERVAL(
      "poll-fallback-interval",
      new OptionType.Time("100ms", "1m"),
      "2s",
      "How often waiting polls look for runs although nothing told them to."),
  POLL_LINGER(
      "poll-linger",
      new OptionType.Time("0s", "1m"),
      "1s",
      "How long a worker's free slots are kept for it between two polls."),
  POLL_ANSWER_BYTES_MAX(
      "poll-answer-bytes-max",
      new OptionType.Bytes("64KiB", "4MiB"),
      "3MiB",
      "What one answer to a poll may hold."),
  DISPATCH_CLAIMERS(
      "dispatch-claimers",
      new OptionType.Whole(1, 64),
      "2",
      "Threads, each with a connection, that look for runs."),

  JOURNAL_LANES(
      "journal-lanes",
      new OptionType.Whole(1, 64),
      "2",
      "Serial writers, each with a connection; more than cores do not help."),
  CALL_MEMORY_PERCENT(
      "call-memory-percent",
      new OptionType.Whole(5, 50),
      "25",
      "What requests, answers and tasks on their way may take of the heap; callers beyond it are"
          + " refused with RESOURCE_EXHAUSTED."),
  JOURNAL_QUEUE_BYTES_MAX(
      "journal-queue-bytes-max",
      new OptionType.Bytes("8MiB", "16GiB"),
      "64MiB",
      "What may wait to be written, in all lanes together; an eighth of the heap if that is less."),
  JOURNAL_BATCH_BYTES_MAX(
      "journal-batch-bytes-max",
      new OptionType.Bytes("64KiB", "256MiB"),
      "8MiB",
      "What one transaction may hold; a 32nd of the heap if that is less."),
  JOURNAL_BATCH_WRITES_MAX(
      "journal-batch-writes-max",
      new OptionType.Whole(1, 100_000),
      "2000",
      "How many writes one transaction may hold."),
  JOURNAL_FULL_PATIENCE(
      "journal-full-patience",
      new OptionType.Time("0s", "10m"),
      "5s",
      "How long a caller waits when the queue is full."),
  JOURNAL_DATABASE_PATIENCE(
      "journal-database-patience",
      new OptionType.Time("0s", "10m"),
      "10s",
      "How long a batch waits for a database that is away."),

  RETRY_ATTEMPTS_MAX(
      "retry-attempts-max",
      new OptionType.Times(1_000_000),
      "3",
      "Executions of a step where neither it nor its run sets a policy, or the policy leaves them out; 1 is no retry, -1 no limit. The other retry- options fill policies in the same way."),
  RETRY_DELAY_FIRST(
      "retry-delay-first",
      new OptionType.Time("0s", "365d"),
      "1s",
      "What such a step waits before its second attempt."),
  RETRY_BACKOFF(
      "retry-backoff",
      new OptionType.Decimal(1, 1_000),
      "2.0",
      "By how much each further delay is longer."),
  RETRY_DELAY_MAX(
      "retry-delay-max", new OptionType.Time("0s", "365d"), "60s", "No delay is longer than this."),
  RETRY_JITTER(
      "retry-jitter",
      new OptionType.Decimal(0, 1),
      "0.25",
      "The share by which a delay may differ, up or down."),
  SHORT_WAIT(
      "short-wait",
      new OptionType.Time("0s", "1m"),
      "1s",
      "Sleeps and delays below this are waited for in place."),
  CRASH_LIMIT(
      "crash-limit",
      new OptionType.Whole(0, 1_000_000),
      "10",
      "So many workers in a row may die on a run that records no step; then it fails."),
  CRASH_DELAY_FIRST(
      "crash-delay-first",
      new OptionType.Time("0s", "1d"),
      "1s",
      "What a run waits after the second such death; each further one twice as long."),
  CRASH_DELAY_MAX(
      "crash-delay-max",
      new OptionType.Time("0s", "1d"),
      "60s",
      "No such delay is longer than this."),
  STEP_TIMEOUT(
      "step-timeout",
      new OptionType.Time("1s", "365d"),
      "10m",
      "How long an attempt of a step may take where neither step nor run say otherwise."),
  STEP_GRACE(
      "step-grace",
      new OptionType.Time("0s", "1h"),
      "5s",
      "So much later the server ends an attempt that its worker should have ended."),
  RETENTION_RUNS(
      "retention-runs",
      new OptionType.Time("0s", "36500d"),
      "30d",
      "How long runs are kept after their end, unless their namespace says otherwise; 0s: for"
          + " ever."),
  RETENTION_WORKERS(
      "retention-workers",
      new OptionType.Time("0s", "36500d"),
      "7d",
      "How long workers are kept after they left; 0s: for ever."),
  RETENTION_INTERVAL(
      "retention-interval",
      new OptionType.Time("1s", "1d"),
      "10m",
      "How often it is looked for what is over."),

  PAYLOAD_BYTES_WARN(
      "payload-bytes-warn",
      new OptionType.Bytes("1B", "4MiB"),
      "1MiB",
      "Payloads that are larger are logged, once an hour for each workflow type; at most payload-bytes-max."),
  PAYLOAD_BYTES_MAX(
      "payload-bytes-max",
      new OptionType.Bytes("1KiB", "4MiB"),
      "2MiB",
      "Data and metadata of one payload."),
  NAME_LENGTH_MAX(
      "name-length-max",
      new OptionType.Whole(1, 200),
      "200",
      "Characters of a namespace, a queue, a workflow type, a version."),
  EXTERNAL_ID_LENGTH_MAX(
      "external-id-length-max",
      new OptionType.Whole(1, 500),
      "500",
      "Characters of the id that a starter gives a run."),
  STEP_KEY_LENGTH_MAX(
      "step-key-length-max", new OptionType.Whole(1, 500), "500", "Characters of a step's key."),
  STEPS_PER_RUN_MAX(
      "steps-per-run-max",
      new OptionType.Whole(1, 10_000_000),
      "100000",
      "Recorded steps of one run."),
  LABELS_MAX(
      "labels-max",
      new OptionType.Whole(1, 10_000),
      "100",
      "Entries of one map of labels or metadata."),
  LABEL_LENGTH_MAX(
      "label-length-max",
      new OptionType.Whole(1, 100_000),
      "1000",
      "Characters of each key and each value of labels."),
  TEXT_LENGTH_MAX(
      "text-length-max",
      new OptionType.Whole(1, 1_000_000),
      "4096",
      "Characters of descriptions and reasons.");

  private static final String PREFIX = "KAGZI_";

  private final String key;
  private final String variable;

  @SuppressWarnings("ImmutableEnumChecker") // Kinds are records of values.
  private final OptionType kind;

  private final String fallback;
  private final String meaning;

  ServerOption(String key, OptionType kind, String fallback, String meaning) {
    this(key, PREFIX + key.toUpperCase(Locale.ROOT).replace('-', '_'), kind, fallback, meaning);
  }

  ServerOption(String key, String variable, OptionType kind, String fallback, String meaning) {
    this.key = key;
    this.variable = variable;
    this.kind = kind;
    this.fallback = fallback;
    this.meaning = meaning;
  }

  /** Its name in a file. */
  public String key() {
    return key;
  }

  /** Its name on the command line; none for a secret, which a list of processes would show. */
  public Optional<String> flag() {
    return isSecret() ? Optional.empty() : Optional.of("--" + key);
  }

  /** Its name in the environment. */
  public String variable() {
    return variable;
  }

  public OptionType kind() {
    return kind;
  }

  /** What holds unless somebody says otherwise; empty for nothing. */
  public String fallback() {
    return fallback;
  }

  /** What it does, for people. */
  public String meaning() {
    return meaning;
  }

  /** Whether its value is never shown. */
  public boolean isSecret() {
    return kind instanceof OptionType.Secret;
  }

  static Optional<ServerOption> byKey(String key) {
    return Arrays.stream(values()).filter(option -> option.key.equals(key)).findFirst();
  }

  static List<String> keys() {
    return Arrays.stream(values()).map(ServerOption::key).toList();
  }
}
