package dev.kagzi.engine.internal.notification;

import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.LoggerFactory;

public sealed interface ServerMessage {
  /**
   * Runs of the type can be claimed after {@code delayMs}.
   *
   * @param runs how many at most, or {@link #UNKNOWN}
   */
  record Work(QueueName queue, TypeVersion type, long delayMs, int runs) implements ServerMessage {
    public static final int UNKNOWN = 0;
  }

  /** A run has ended: servers with callers that await it read its result. */
  record Ended(RunId runId) implements ServerMessage {}

  /**
   * A client of the sender awaits the run: the server where it started publishes its end. Not about
   * children: see {@link StepEnded}.
   */
  record Awaited(RunId runId) implements ServerMessage {}

  /** A message to a worker. The server that has the worker's Attach stream forwards it. */
  sealed interface ToWorker extends ServerMessage {
    WorkerId worker();
  }

  record Stop(WorkerId worker, Claim claim, RunStatus status) implements ToWorker {}

  /**
   * A step that the run awaits, such as a child or a signal, has ended: the worker can request it.
   */
  record StepEnded(WorkerId worker, Claim claim) implements ToWorker {}

  /** A cancel of the run was requested: the worker cleans up. */
  record CancelRequested(WorkerId worker, Claim claim) implements ToWorker {}

  record Drain(WorkerId worker) implements ToWorker {}

  /** A namespace was enabled or disabled: refresh the namespace cache. */
  record Namespace(String namespace) implements ServerMessage {}

  /** A default version was changed: read all default versions. */
  record Versions() implements ServerMessage {}

  /** A server started, or messages may have been lost: refresh everything. */
  record Everything() implements ServerMessage {}

  /** Messages with equal keys can wait as one. */
  default ServerMessage key() {
    return this instanceof Work work
        ? new Work(work.queue, work.type, work.delayMs, Work.UNKNOWN)
        : this;
  }

  /** Returns one message with the meaning of both, which have equal keys. */
  default ServerMessage plus(ServerMessage other) {
    if (this instanceof Work work && other instanceof Work more) {
      boolean isKnown = work.runs != Work.UNKNOWN && more.runs != Work.UNKNOWN;
      int sum = isKnown ? work.runs + more.runs : Work.UNKNOWN;
      return new Work(work.queue, work.type, work.delayMs, sum);
    }
    return this;
  }

  /** Calls the receiver; a bug there must not end the thread of the notifier. */
  default void deliverTo(Consumer<ServerMessage> receiver) {
    try {
      receiver.accept(this);
    } catch (RuntimeException bug) {
      LoggerFactory.getLogger(ServerMessage.class)
          .atError()
          .setCause(bug)
          .addKeyValue("received", encode())
          .log("handling a message of another server failed");
    }
  }

  /** Encodes the message as one line; escapes line breaks in names. */
  default String encode() {
    return switch (this) {
      case Work(QueueName queue, TypeVersion type, long delayMs, int runs) ->
          "w "
              + delayMs
              + ' '
              + escape(queue.namespace())
              + ' '
              + escape(queue.queue())
              + ' '
              + escape(type.type())
              + ' '
              + escape(type.version())
              + ' '
              + runs;
      case Ended(RunId runId) -> "e " + runId;
      case Awaited(RunId runId) -> "a " + runId;
      case Stop(WorkerId worker, Claim claim, RunStatus status) ->
          "s " + worker + ' ' + claim.runId() + ' ' + claim.epoch() + ' ' + status;
      case StepEnded(WorkerId worker, Claim claim) ->
          "k " + worker + ' ' + claim.runId() + ' ' + claim.epoch();
      case CancelRequested(WorkerId worker, Claim claim) ->
          "c " + worker + ' ' + claim.runId() + ' ' + claim.epoch();
      case Drain(WorkerId worker) -> "d " + worker;
      case Namespace(String namespace) -> "n " + escape(namespace);
      case Versions() -> "v";
      case Everything() -> "*";
    };
  }

  /** Returns empty for a line that this server does not understand, because a newer one sent it. */
  static Optional<ServerMessage> decode(String line) {
    String[] parts = line.split(" ", -1);
    try {
      return switch (parts[0]) {
        case "w" ->
            Optional.of(
                new Work(
                    new QueueName(unescape(parts[2]), unescape(parts[3])),
                    new TypeVersion(unescape(parts[4]), unescape(parts[5])),
                    Long.parseLong(parts[1]),
                    parts.length > 6 ? Integer.parseInt(parts[6]) : Work.UNKNOWN));
        case "e" -> RunId.parse(parts[1]).map(Ended::new);
        case "a" -> RunId.parse(parts[1]).map(Awaited::new);
        case "s" -> Optional.of(new Stop(worker(parts), claim(parts), RunStatus.valueOf(parts[4])));
        case "k" -> Optional.of(new StepEnded(worker(parts), claim(parts)));
        case "c" -> Optional.of(new CancelRequested(worker(parts), claim(parts)));
        case "d" -> Optional.of(new Drain(worker(parts)));
        case "n" -> Optional.of(new Namespace(unescape(parts[1])));
        case "v" -> Optional.of(new Versions());
        case "*" -> Optional.of(new Everything());
        default -> Optional.empty();
      };
    } catch (IndexOutOfBoundsException
        | IllegalArgumentException
        | NoSuchElementException unreadable) {
      return Optional.empty();
    }
  }

  private static WorkerId worker(String[] parts) {
    return WorkerId.parse(parts[1]).orElseThrow();
  }

  private static Claim claim(String[] parts) {
    return new Claim(RunId.parse(parts[2]).orElseThrow(), Integer.parseInt(parts[3]));
  }

  private static String escape(String text) {
    return text.isEmpty() ? "-" : "=" + URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  private static String unescape(String text) {
    return text.equals("-") ? "" : URLDecoder.decode(text.substring(1), StandardCharsets.UTF_8);
  }
}
