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

/**
 * Configures and starts a worker: {@link Kagzi#worker}. Not thread-safe.
 *
 * <pre>{@code
 * Worker worker = kagzi.worker("orders")
 *     .workflow(PROCESS_ORDER, Orders::process)
 *     .maxConcurrent(50)
 *     .start();
 * }</pre>
 */
public final class WorkerBuilder {
  /** The reserved workflow type of {@link #onAnyFailure} handlers; use it to list their runs. */
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
   * Registers a workflow on every queue of this worker. A worker without queues serves it on the
   * queue of its type.
   *
   * @throws InvalidArgumentException with code {@code DUPLICATE_TYPE} if this type and version is
   *     already registered
   */
  public <I, O> WorkerBuilder workflow(WorkflowType<I, O> type, Workflow<I, O> code) {
    Objects.requireNonNull(code, "code");
    checkNew(type);
    codes.add(new RegisteredWorkflow<>(type, code));
    return this;
  }

  /**
   * Registers the handler of all failures. Every run that ends as FAILED or TIMED_OUT starts it, in
   * addition to the run's own handler ({@link WorkflowStarter#onFailure}). Runs that were cancelled
   * or terminated do not start it, and neither do failed handlers.
   *
   * <p>A namespace has one handler of all failures. From its first registration on, every failure
   * starts it: on the failed run's queue if an online worker there has registered it, and otherwise
   * on the queue where it was registered last. This worker serves it on all its queues. If no
   * worker of that queue is online, the handler's run waits.
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

  /** Sets how many runs are executed at the same time on each queue; 100 by default. */
  public WorkerBuilder maxConcurrent(int runs) {
    this.maxConcurrent = positive("maxConcurrent", runs);
    return this;
  }

  /**
   * Sets how many runs of this type, counting all versions, are executed at the same time on each
   * queue; no limit by default.
   */
  public WorkerBuilder typeLimit(WorkflowType<?, ?> type, int runs) {
    typeLimits.put(type.name(), positive("typeLimit", runs));
    return this;
  }

  /** Adds a label that is displayed with the worker, for example region, team or image. */
  public WorkerBuilder label(String key, String value) {
    labels.put(NameRules.check("label", key), Objects.requireNonNull(value, "value"));
    return this;
  }

  /** Sets the deployment version for display. It does not affect which runs the worker receives. */
  public WorkerBuilder version(String version) {
    this.version = NameRules.check("version", version);
    return this;
  }

  /** Sets the host name that is displayed with the worker; the machine's name by default. */
  public WorkerBuilder hostname(String hostname) {
    this.hostname = NameRules.check("hostname", hostname);
    return this;
  }

  /** Sets how long a closing worker waits for its runs before it releases them; 30 s by default. */
  public WorkerBuilder drainTimeout(Duration timeout) {
    if (timeout.isNegative()) {
      throw new IllegalArgumentException("drainTimeout: " + timeout + " (expected: >= 0)");
    }
    this.drainTimeout = timeout;
    return this;
  }

  /**
   * Sets whether a JVM shutdown (SIGTERM, SIGINT, {@code System.exit}) drains the worker; on by
   * default. Switch it off if something else closes the worker in time, for example an application
   * framework.
   */
  public WorkerBuilder drainOnShutdown(boolean on) {
    this.drainOnShutdown = on;
    return this;
  }

  /** Sets a function that changes failures before they are stored; none by default. */
  public WorkerBuilder errorSanitizer(ErrorSanitizer sanitizer) {
    this.errorSanitizer = Objects.requireNonNull(sanitizer, "sanitizer");
    return this;
  }

  /**
   * Sets how exceptions are classified: {@code e -> e instanceof TooManyRequests ?
   * ErrorKind.RATE_LIMIT : ErrorKind.UNKNOWN}. The exception and then its causes are classified in
   * turn, each by this function first and by the SDK's own rules second. The first kind other than
   * {@link ErrorKind#UNKNOWN} is used. The function must be thread-safe.
   */
  public WorkerBuilder errorKinds(Function<? super Throwable, ErrorKind> kinds) {
    this.errorKinds = Objects.requireNonNull(kinds, "kinds");
    return this;
  }

  /** Sets whether failures are stored with their stack trace; on by default. */
  public WorkerBuilder recordStacks(boolean on) {
    this.recordStacks = on;
    return this;
  }

  /**
   * Sets whether nondeterministic code blocks its run; off by default. Code is nondeterministic if,
   * in a replay, it requests a new step name where the history has another step, or requests other
   * steps, or in another order, than it did before in this worker. If off, the worker logs a
   * warning once per workflow type and the run continues. Steps that a deployment adds or removes
   * are not treated as nondeterminism.
   *
   * <p>A changed order of recorded steps that only the history shows never blocks the run, it is
   * only logged: the order is known from recorded times only, and the database's clock may have
   * been set back.
   *
   * <p>A blocked run does not fail. This worker does not continue it; a worker with other code
   * does. {@code kagzi workflow get} shows the reason with code {@code CODE_NONDETERMINISTIC}.
   */
  public WorkerBuilder blockNondeterminism(boolean on) {
    this.blockNondeterminism = on;
    return this;
  }

  /** Adds an interceptor of runs and steps. The first that is added is the outermost. */
  public WorkerBuilder interceptor(WorkerInterceptor interceptor) {
    interceptors.add(Objects.requireNonNull(interceptor, "interceptor"));
    return this;
  }

  /**
   * Starts the worker and returns immediately. The worker registers in the background and retries
   * while no server answers.
   *
   * @throws IllegalStateException if no workflow is registered, or if the type of a {@link
   *     #typeLimit} is not registered
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
      Set<String> workflowQueues = queues.isEmpty() ? Set.of(code.type().queue()) : queues;
      for (String queue : workflowQueues) {
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

  // Serves the handler on all queues of the worker's workflows. Without other workflows, it is
  // served on the worker's own queues or, if there are none, on the handler's queue.
  private void addToAll(
      Map<String, List<RegisteredWorkflow<?, ?>>> byQueue, RegisteredWorkflow<?, ?> handler) {
    if (byQueue.isEmpty()) {
      Set<String> handlerQueues = queues.isEmpty() ? Set.of(handler.type().queue()) : queues;
      handlerQueues.forEach(queue -> byQueue.put(queue, new ArrayList<>()));
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
        nondeterminism,
        kagzi.tracing());
  }

  private static String localHostname() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      // The host name is only displayed, so a missing one must not stop the worker.
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
