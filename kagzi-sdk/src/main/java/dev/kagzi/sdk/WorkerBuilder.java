package dev.kagzi.sdk;

import dev.kagzi.sdk.internal.run.FailureRecorder;
import dev.kagzi.sdk.internal.run.InterceptorChain;
import dev.kagzi.sdk.internal.run.NameRules;
import dev.kagzi.sdk.internal.run.Nondeterminism;
import dev.kagzi.sdk.internal.run.RegisteredWorkflow;
import dev.kagzi.sdk.internal.worker.WorkerSettings;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Says what a worker is to do, then starts it. Not thread-safe. */
public final class WorkerBuilder {
  /**
   * Name of the reserved workflow type under which {@link #onAnyFailure} registers; its runs can be
   * listed by it.
   */
  public static final String ANY_FAILURE_TYPE = "__kagzi_failure_handler";

  private static final int MAX_CONCURRENT = 100;
  private static final Duration DRAIN_TIMEOUT = Duration.ofSeconds(30);

  private final Kagzi kagzi;
  private final Set<String> queues;
  private final List<RegisteredWorkflow<?, ?>> codes = new ArrayList<>();
  private final Map<String, Integer> typeLimits = new LinkedHashMap<>();
  private final Map<String, String> labels = new LinkedHashMap<>();
  private int maxConcurrent = MAX_CONCURRENT;
  private String version = "";
  private String hostname = "";
  private Duration drainTimeout = DRAIN_TIMEOUT;
  private boolean drainOnShutdown = true;
  private @Nullable RegisteredWorkflow<?, ?> anyFailure;
  private ErrorSanitizer errorSanitizer = FailureRecorder.KEEP_ALL;
  private Function<? super Throwable, ErrorKind> errorKinds = thrown -> ErrorKind.UNKNOWN;
  private boolean recordStacks = true;
  private boolean blockNondeterminism;
  private final List<WorkerInterceptor> interceptors = new ArrayList<>();

  WorkerBuilder(Kagzi kagzi, List<String> queues, List<WorkerInterceptor> interceptors) {
    this.kagzi = kagzi;
    this.interceptors.addAll(interceptors);
    this.queues = new LinkedHashSet<>();
    for (String queue : queues) {
      this.queues.add(NameRules.check("queue", queue));
    }
  }

  /**
   * Serves a workflow, on every queue of this worker. A worker that names no queue serves it on the
   * queue that the type carries.
   */
  public <I, O> WorkerBuilder workflow(WorkflowType<I, O> type, Workflow<I, O> code) {
    Objects.requireNonNull(code, "code");
    checkNew(type);
    codes.add(new RegisteredWorkflow<>(type, code));
    return this;
  }

  /**
   * Serves the handler of all failures: a run that ends as FAILED or TIMED_OUT starts it, whatever
   * its type and whatever handler of its own it has ({@link WorkflowStarter#onFailure}). Runs that
   * were cancelled or terminated start none, and neither do handlers that fail themselves.
   *
   * <p>It is one for the whole namespace: from its first registration on every failure starts it,
   * on the failed run's queue if a worker there has registered it, else on the queue where it was
   * registered last. It is served on all queues of this worker, and waits there while no worker is
   * online.
   */
  public WorkerBuilder onAnyFailure(Workflow<WorkflowFailedEvent, ?> handler) {
    Objects.requireNonNull(handler, "handler");
    WorkflowType<WorkflowFailedEvent, Object> type =
        WorkflowType.of(ANY_FAILURE_TYPE, WorkflowFailedEvent.class, Object.class);
    checkNew(type);
    anyFailure = new RegisteredWorkflow<>(type, handler::run);
    return this;
  }

  private void checkNew(WorkflowType<?, ?> type) {
    boolean known =
        allCodes()
            .anyMatch(
                each ->
                    each.type().name().equals(type.name())
                        && each.type().version().equals(type.version()));
    if (known) {
      throw new InvalidArgumentException(
          "DUPLICATE_TYPE", "type: " + type + " (expected: registered once)");
    }
  }

  private Stream<RegisteredWorkflow<?, ?>> allCodes() {
    return Stream.concat(codes.stream(), Stream.ofNullable(anyFailure));
  }

  /** How many runs are executed at once, on each queue; 100 if not set. */
  public WorkerBuilder maxConcurrent(int runs) {
    this.maxConcurrent = positive("maxConcurrent", runs);
    return this;
  }

  /** How many runs of this type are executed at once, on each queue and over all its versions. */
  public WorkerBuilder typeLimit(WorkflowType<?, ?> type, int runs) {
    typeLimits.put(type.name(), positive("typeLimit", runs));
    return this;
  }

  /** Shown with the worker: region, team, image. */
  public WorkerBuilder label(String key, String value) {
    labels.put(NameRules.check("label", key), Objects.requireNonNull(value, "value"));
    return this;
  }

  /** Version of the deployment, shown with the worker; it chooses nothing. */
  public WorkerBuilder version(String version) {
    this.version = NameRules.check("version", version);
    return this;
  }

  /** Shown with the worker instead of the machine's own name. */
  public WorkerBuilder hostname(String hostname) {
    this.hostname = NameRules.check("hostname", hostname);
    return this;
  }

  /** How long a closing worker waits for its runs before it gives them back; 30 s if not set. */
  public WorkerBuilder drainTimeout(Duration timeout) {
    if (timeout.isNegative()) {
      throw new IllegalArgumentException("drainTimeout: " + timeout + " (expected: >= 0)");
    }
    this.drainTimeout = timeout;
    return this;
  }

  /**
   * Whether the worker drains when the process is asked to end (SIGTERM, SIGINT, {@code
   * System.exit}); on if not set. Switch it off where something else closes the worker in time,
   * such as an application framework.
   */
  public WorkerBuilder drainOnShutdown(boolean on) {
    this.drainOnShutdown = on;
    return this;
  }

  /** Says what is stored of failures: {@link ErrorSanitizer}. Without it, all that they say. */
  public WorkerBuilder errorSanitizer(ErrorSanitizer sanitizer) {
    this.errorSanitizer = Objects.requireNonNull(sanitizer, "sanitizer");
    return this;
  }

  /**
   * Says what kind of error an exception is: {@code e -> e instanceof TooManyRequests ?
   * ErrorKind.RATE_LIMIT : ErrorKind.UNKNOWN}. It is asked for the exception and, as long as the
   * answer is {@link ErrorKind#UNKNOWN}, for its causes, each time before the SDK looks whether it
   * knows the class itself. Must be thread-safe.
   */
  public WorkerBuilder errorKinds(Function<? super Throwable, ErrorKind> kinds) {
    this.errorKinds = Objects.requireNonNull(kinds, "kinds");
    return this;
  }

  /** Whether failures are stored with their stack trace; on if not set. */
  public WorkerBuilder recordStacks(boolean on) {
    this.recordStacks = on;
    return this;
  }

  /**
   * Whether a run is blocked whose code does not do at a replay what it did before: it asks for a
   * new name in place of a recorded one, or not for the steps that it asked this worker for
   * earlier. Off if not set: the worker logs a warning, once per workflow type, and the run goes
   * on. Steps that a deploy inserts or removes are no such difference.
   *
   * <p>Recorded steps in another order than that of their recorded times are only logged, also if
   * this is on: each of them has its result on record and is not executed again, and the times are
   * out of order as well if the database's clock was set back, by a failover for example.
   *
   * <p>A blocked run does not fail. This worker does not go on with it any more; one with other
   * code does. {@code kagzi workflow get} shows the reason, under the code {@code
   * CODE_NONDETERMINISTIC}.
   */
  public WorkerBuilder blockNondeterminism(boolean on) {
    this.blockNondeterminism = on;
    return this;
  }

  /** Stands around runs and steps; of several the first is the outermost. */
  public WorkerBuilder interceptor(WorkerInterceptor interceptor) {
    interceptors.add(Objects.requireNonNull(interceptor, "interceptor"));
    return this;
  }

  /**
   * Starts the worker. Returns at once; the worker registers in the background and keeps trying
   * while no server answers.
   */
  public Worker start() {
    if (allCodes().findAny().isEmpty()) {
      throw new IllegalStateException(
          "workflows: none (expected: at least one; call workflow(type, code))");
    }
    for (String type : typeLimits.keySet()) {
      if (allCodes().noneMatch(code -> code.type().name().equals(type))) {
        throw new IllegalStateException(
            "typeLimit: " + type + " is not served (expected: workflow(type, code) for it)");
      }
    }
    return kagzi.start(settings(), drainOnShutdown);
  }

  private List<WorkerSettings> settings() {
    Map<String, List<RegisteredWorkflow<?, ?>>> byQueue = new LinkedHashMap<>();
    for (RegisteredWorkflow<?, ?> code : codes) {
      Set<String> its = queues.isEmpty() ? Set.of(code.type().queue()) : queues;
      for (String queue : its) {
        byQueue.computeIfAbsent(queue, unused -> new ArrayList<>()).add(code);
      }
    }
    if (anyFailure != null) {
      addToAll(byQueue, anyFailure);
    }
    Nondeterminism nondeterminism = new Nondeterminism(blockNondeterminism);
    return byQueue.entrySet().stream()
        .map(entry -> settings(entry.getKey(), entry.getValue(), nondeterminism))
        .toList();
  }

  // Where there is nothing else to serve, the handler's queues are the worker's own.
  private void addToAll(
      Map<String, List<RegisteredWorkflow<?, ?>>> byQueue, RegisteredWorkflow<?, ?> handler) {
    if (byQueue.isEmpty()) {
      Set<String> its = queues.isEmpty() ? Set.of(handler.type().queue()) : queues;
      its.forEach(queue -> byQueue.put(queue, new ArrayList<>()));
    }
    byQueue.values().forEach(codes -> codes.add(handler));
  }

  private WorkerSettings settings(
      String queue, List<RegisteredWorkflow<?, ?>> served, Nondeterminism nondeterminism) {
    Map<String, Integer> limits = new LinkedHashMap<>();
    for (RegisteredWorkflow<?, ?> code : served) {
      Integer limit = typeLimits.get(code.type().name());
      if (limit != null) {
        limits.put(code.type().name(), limit);
      }
    }
    String host = hostname.isEmpty() ? localHostname() : hostname;
    return new WorkerSettings(
        queue,
        served,
        maxConcurrent,
        limits,
        labels,
        version,
        host,
        drainTimeout,
        new FailureRecorder(errorSanitizer, errorKinds, recordStacks),
        new InterceptorChain(interceptors),
        nondeterminism);
  }

  private static String localHostname() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      // A machine that cannot find itself by name is still a good worker.
      return "unknown";
    }
  }

  private static int positive(String what, int value) {
    if (value < 1) {
      throw new IllegalArgumentException(what + ": " + value + " (expected: >= 1)");
    }
    return value;
  }
}
