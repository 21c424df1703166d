package dev.kagzi.server.config;

import dev.kagzi.server.config.OptionType.Bytes;
import dev.kagzi.server.config.OptionType.Choice;
import dev.kagzi.server.config.OptionType.Decimal;
import dev.kagzi.server.config.OptionType.File;
import dev.kagzi.server.config.OptionType.Secret;
import dev.kagzi.server.config.OptionType.Switch;
import dev.kagzi.server.config.OptionType.Text;
import dev.kagzi.server.config.OptionType.Time;
import dev.kagzi.server.config.OptionType.Times;
import dev.kagzi.server.config.OptionType.Whole;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Every option of a server. The key of an option is the constant's name in lower case with dashes.
 * The key is its name in a file and, after two dashes, its flag; secrets have no flag. The variable
 * is {@code KAGZI_} and the constant's name, unless another name is given.
 */
public enum ServerOption {
  HOST(
      "KAGZI_SERVER_HOST",
      new Text("ADDRESS"),
      "127.0.0.1",
      "The address that all ports bind to. Any address but loopback requires a token, mutual TLS or insecure."),
  PORT("KAGZI_SERVER_PORT", new Whole(0, 65_535), "50051", "Port for gRPC; 0 picks a free one."),
  HTTP_PORT(new Whole(0, 65_535), "8484", "Port for HTTP; 0 picks a free one."),
  TOKEN(
      new Secret(),
      "",
      "The token that callers of gRPC and HTTP must send: authorization: Bearer TOKEN."),
  TOKEN_FILE(new File(), "", "A file whose first line is the token."),
  INSECURE(
      new Switch(),
      "false",
      "Allows a server that listens on more than loopback to run without a token."),
  TLS_CERT(
      new File(),
      "",
      "Certificate chain of the server (PEM), for gRPC and HTTP; requires tls-key."),
  TLS_KEY(new File(), "", "Private key of the server (PEM, PKCS#8)."),
  TLS_CLIENT_CA(new File(), "", "Authorities (PEM) that sign client certificates: mutual TLS."),
  REFLECTION(new Switch(), "false", "Turns gRPC reflection on; on in dev."),
  CLOSE_TIMEOUT(new Time("0s", "10m"), "10s", "How long a stop waits for calls in flight."),
  LOG_LEVEL(
      new Choice(List.of("TRACE", "DEBUG", "INFO", "WARN", "ERROR")),
      "INFO",
      "The level of the log, which goes to standard error."),
  LOG_FORMAT(
      new Choice(List.of("text", "json")),
      "text",
      "The format of the log: lines of text, or one JSON object per line."),
  DASHBOARD(new Switch(), "true", "Whether the HTTP port serves the dashboard."),
  PUBLIC_URL(
      new Text("URL"),
      "",
      "Where browsers reach the dashboard through a proxy, and outside systems reach callbacks, such as https://kagzi.example.com; empty if browsers reach the HTTP port itself and no workflow makes a callback."),
  HTTP_HOSTS(
      new Text("NAMES"),
      "",
      "Further names by which HTTP requests may reach the server, separated by commas. Addresses, localhost, host and public-url are always accepted."),
  CALLBACK_KEYS(
      new Secret(),
      "",
      "The key that signs the URLs of callbacks: at least 32 characters, the same on all servers. Two with a comma while it is rotated: the first signs, both are valid. Callbacks also require public-url."),
  CALLBACK_PORT(
      new Whole(0, 65_535),
      "",
      "A port of its own for callbacks, which serves nothing else; 0 picks a free one. Empty: the HTTP port serves them."),
  TRUSTED_PROXIES(
      new Text("ADDRESSES"),
      "",
      "Addresses and ranges of proxies, separated by commas, such as 10.0.0.0/8. Only from them the header X-Forwarded-For is believed, which names who sends wrong tokens of callbacks or to the login page."),
  SESSION_TIMEOUT(new Time("1m", "1d"), "12h", "How long a login to the dashboard lasts."),
  ATTENTION_QUEUE_AGE(
      new Time("1s", "365d"),
      "1m",
      "On the dashboard, a queue needs attention if its oldest due run waits at least this long."),
  ATTENTION_FAILURE_PERCENT(
      new Whole(1, 100),
      "10",
      "On the dashboard, a workflow type needs attention if at least this share of its runs failed in the last hour."),
  ATTENTION_FAILURES_MIN(
      new Whole(1, 1_000_000),
      "5",
      "How many runs of a type must have failed in the last hour for attention-failure-percent to apply."),
  ATTENTION_DATABASE_LATENCY(
      new Time("1ms", "1h"),
      "200ms",
      "On the dashboard, the database needs attention if it takes at least this long to answer."),
  METRICS(new Switch(), "true", "Whether the server measures itself and serves /metrics."),
  METRICS_LABELS_MAX(
      new Whole(1, 10_000),
      "100",
      "How many workflow types, and how many queues, have their own labels in metrics; all others are counted as other."),

  OTLP_ENDPOINT(
      new Text("URL"),
      "",
      "A collector that accepts OTLP over gRPC, such as http://localhost:4317: the server exports spans of traced runs to it. Empty: it exports nothing."),
  OTLP_HEADERS(
      new Secret(),
      "",
      "Headers of each export, such as authorization=TOKEN; several separated by commas."),

  DB_URL(
      new Text("URL"),
      "",
      "PostgreSQL 14 to 18: jdbc:postgresql://… or postgres://user:password@host/db. Not in dev."),
  DB_USER(new Text("NAME"), "postgres", "The user if the URL names none. Not in dev."),
  DB_PASSWORD(new Secret(), "", "The password if the URL has none. Not in dev."),
  DB_POOL_SIZE(
      new Whole(1, 1_000),
      "8",
      "Connections for reading. Writers have their own: journal-lanes, dispatch-claimers, and a"
          + " few."),
  MIGRATE_ON_START(
      new Switch(),
      "true",
      "Whether a start migrates the schema. If not, run kagzi migrate before. Not in dev."),

  NOTIFIER(
      new Choice(List.of("in-process", "postgres")),
      "postgres",
      "How servers notify each other: by LISTEN and NOTIFY, or in memory. in-process is for a single server: it saves two connections, and a second server refuses to start."),

  AUTO_CREATE_NAMESPACES(
      new Switch(),
      "false",
      "Whether the first use of an unknown namespace creates it; on in dev."),

  COORDINATOR_INTERVAL(
      "KAGZI_COORDINATOR_INTERVAL_SECS",
      new Time("100ms", "1m"),
      "1s",
      "How often the server does its periodic work: detect dead workers, end what"
          + " timed out. Some of it is done every fifth time."),
  COORDINATOR_BATCH_SIZE(
      new Whole(1, 10_000), "500", "How many schedules one transaction fires at most."),
  COORDINATOR_MAX_WORKFLOWS_PER_TICK(
      new Whole(1, 1_000_000),
      "1000",
      "How many schedule slots older than 2s become runs in one interval; newer ones have no limit."),
  COORDINATOR_WORKER_STALE_THRESHOLD(
      "KAGZI_COORDINATOR_WORKER_STALE_THRESHOLD_SECS",
      new Time("1s", "1h"),
      "10s",
      "How long a worker may send no heartbeat before its runs go to other workers."),
  WORKER_HEARTBEAT_INTERVAL(
      "KAGZI_WORKER_HEARTBEAT_INTERVAL_SECS",
      new Time("1s", "1m"),
      "3s",
      "How often workers send heartbeats; whole seconds."),
  WORKER_VISIBILITY_TIMEOUT(
      "KAGZI_WORKER_VISIBILITY_TIMEOUT_SECS",
      new Time("1s", "1d"),
      "60s",
      "The default lease: how long a worker keeps a run without a heartbeat. A start"
          + " can set another one (heartbeatTimeout)."),
  WORKER_FIRST_LEASE(
      new Time("1s", "1d"),
      "6s",
      "The lease of a newly dispatched run; the first heartbeat extends it to the full lease."),
  WORKER_DETACHED_TIMEOUT(
      new Time("100ms", "1h"),
      "3s",
      "How long a worker may send no heartbeat after its Attach stream broke."),

  POLL_TIMEOUT(new Time("1s", "10m"), "60s", "The longest wait of a poll."),
  POLL_FALLBACK_INTERVAL(
      new Time("100ms", "1m"),
      "2s",
      "How often waiting polls query for runs without a notification; three times as long for"
          + " idle queues of a lone server."),
  POLL_KEEP_SLOTS(
      new Time("0s", "1m"),
      "1s",
      "How long a worker's free slots are kept for it between two polls."),
  POLL_ANSWER_BYTES_MAX(
      new Bytes("64KiB", "4MiB"), "3MiB", "The most bytes in one response to a poll."),
  DISPATCH_CLAIMERS(new Whole(1, 64), "2", "Threads, each with a connection, that claim runs."),

  JOURNAL_LANES(
      new Whole(1, 64),
      "2",
      "Serial writers, each with a connection; more lanes than CPU cores do not help."),
  CALL_MEMORY_PERCENT(
      new Whole(5, 50),
      "25",
      "The share of the heap for requests, responses and tasks in flight; calls above it are refused with RESOURCE_EXHAUSTED."),
  JOURNAL_QUEUE_BYTES_MAX(
      new Bytes("8MiB", "16GiB"),
      "64MiB",
      "The most bytes that wait to be written, in all lanes together; an eighth of the heap if that is less."),
  JOURNAL_BATCH_BYTES_MAX(
      new Bytes("64KiB", "256MiB"),
      "8MiB",
      "The most bytes in one transaction; a 32nd of the heap if that is less."),
  JOURNAL_BATCH_WRITES_MAX(new Whole(1, 100_000), "2000", "The most writes in one transaction."),
  JOURNAL_FULL_PATIENCE(
      new Time("0s", "10m"), "5s", "How long a call waits when the journal queue is full."),
  JOURNAL_DATABASE_PATIENCE(
      new Time("0s", "10m"), "10s", "How long a batch waits for an unreachable database."),

  RETRY_ATTEMPTS_MAX(
      new Times(1_000_000),
      "3",
      "Attempts of a step if neither the step nor its run has a policy, or the policy leaves them out; 1 is no retry, -1 no limit. The other retry- options apply in the same way."),
  RETRY_DELAY_FIRST(new Time("0s", "365d"), "1s", "The delay before a step's second attempt."),
  RETRY_BACKOFF(new Decimal(1, 1_000), "2.0", "The factor by which each further delay grows."),
  RETRY_DELAY_MAX(new Time("0s", "365d"), "60s", "The longest retry delay."),
  RETRY_JITTER(
      new Decimal(0, 1), "0.25", "The share by which a delay varies at random, up or down."),
  SHORT_WAIT(
      new Time("0s", "1m"),
      "1s",
      "A worker keeps its run during sleeps and retry delays below this. In runs with"
          + " parallel branches the limit is always 1s."),
  CRASH_LIMIT(
      new Whole(0, 1_000_000),
      "10",
      "How many workers in a row may die with a run that records no step; then the run fails."),
  CRASH_DELAY_FIRST(
      new Time("0s", "1d"),
      "1s",
      "The delay after the second worker died with a run; it doubles with each further one."),
  CRASH_DELAY_MAX(new Time("0s", "1d"), "60s", "The longest delay after a worker died with a run."),
  STEP_TIMEOUT(
      new Time("1s", "365d"),
      "10m",
      "How long an attempt of a step may take if neither the step nor its run sets a timeout."),
  STEP_GRACE(
      new Time("0s", "1h"),
      "5s",
      "How long after its timeout the server ends an attempt that its worker did not end."),
  RETENTION_RUNS(
      new Time("0s", "36500d"),
      "30d",
      "How long runs are kept after their end, unless their namespace sets another time; 0s: forever."),
  RETENTION_WORKERS(
      new Time("0s", "36500d"),
      "7d",
      "How long workers are kept after they went offline; 0s: forever."),
  RETENTION_INTERVAL(new Time("1s", "1d"), "10m", "How often expired runs and workers are purged."),

  PAYLOAD_BYTES_WARN(
      new Bytes("1B", "4MiB"),
      "1MiB",
      "Larger payloads are logged, once an hour for each workflow type; at most payload-bytes-max."),
  PAYLOAD_BYTES_MAX(
      new Bytes("1KiB", "4MiB"), "2MiB", "The most bytes of data and metadata of one payload."),
  NAME_LENGTH_MAX(
      new Whole(1, 200),
      "200",
      "The most characters of a namespace, a queue, a workflow type, a version."),
  EXTERNAL_ID_LENGTH_MAX(new Whole(1, 500), "500", "The most characters of a run's external id."),
  STEP_KEY_LENGTH_MAX(new Whole(1, 500), "500", "The most characters of a step's key."),
  STEPS_PER_RUN_MAX(new Whole(1, 10_000_000), "100000", "The most recorded steps of one run."),
  SIGNALS_PER_RUN_MAX(
      new Whole(1, 1_000_000), "10000", "The most signals to one run that it has not received."),
  SIGNAL_BYTES_PER_RUN_MAX(
      new Bytes("1KiB", "1GiB"), "16MiB", "The most bytes of those signals, without metadata."),
  LABELS_MAX(new Whole(1, 10_000), "100", "The most entries of one map of labels or metadata."),
  LABEL_LENGTH_MAX(
      new Whole(1, 100_000), "1000", "The most characters of each key and each value of labels."),
  TEXT_LENGTH_MAX(
      new Whole(1, 1_000_000), "4096", "The most characters of descriptions and reasons.");

  private final String key;
  private final String variable;

  @SuppressWarnings("ImmutableEnumChecker") // Option types are records of values.
  private final OptionType type;

  private final String defaultValue;
  private final String description;

  ServerOption(OptionType type, String defaultValue, String description) {
    this("", type, defaultValue, description);
  }

  ServerOption(String variable, OptionType type, String defaultValue, String description) {
    this.key = name().toLowerCase(Locale.ROOT).replace('_', '-');
    this.variable = variable.isEmpty() ? "KAGZI_" + name() : variable;
    this.type = type;
    this.defaultValue = defaultValue;
    this.description = description;
  }

  public String key() {
    return key;
  }

  /** Returns its name on the command line; empty for a secret, which process lists would show. */
  public Optional<String> flag() {
    return isSecret() ? Optional.empty() : Optional.of("--" + key);
  }

  public String variable() {
    return variable;
  }

  public OptionType type() {
    return type;
  }

  public String defaultValue() {
    return defaultValue;
  }

  public String description() {
    return description;
  }

  public boolean isSecret() {
    return type instanceof Secret;
  }

  static Optional<ServerOption> byKey(String key) {
    return Arrays.stream(values()).filter(option -> option.key.equals(key)).findFirst();
  }

  static List<String> keys() {
    return Arrays.stream(values()).map(ServerOption::key).toList();
  }
}
