package dev.kagzi.engine.notification;

import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** One thing that a server tells the others. */
public sealed interface ServerMessage {
  /** A run of that type can be claimed after so many milliseconds. */
  record Work(QueueName queue, TypeVersion type, long delayMs) implements ServerMessage {}

  /** A run has ended: whoever awaits it may read how. */
  record Ended(RunId runId) implements ServerMessage {}

  /** Whoever has the worker attached tells it to stop. */
  record Stop(WorkerId worker, Claim claim, RunStatus status) implements ServerMessage {}

  /** Whoever has the worker attached tells it that something has come for its run. */
  record Wake(WorkerId worker, Claim claim) implements ServerMessage {}

  /** Whoever has the worker attached tells it to drain. */
  record Drain(WorkerId worker) implements ServerMessage {}

  /** A namespace was enabled or disabled: whoever knows it reads which. */
  record Namespace(String namespace) implements ServerMessage {}

  /** The default version of some type was changed: read which. */
  record Versions() implements ServerMessage {}

  /** Too much to tell, or a server has just come: look at everything. */
  record Everything() implements ServerMessage {}

  /** One line, without line breaks. */
  default String encode() {
    return switch (this) {
      case Work(QueueName queue, TypeVersion type, long delayMs) ->
          "w "
              + delayMs
              + ' '
              + escape(queue.namespace())
              + ' '
              + escape(queue.queue())
              + ' '
              + escape(type.type())
              + ' '
              + escape(type.version());
      case Ended(RunId runId) -> "e " + runId;
      case Stop(WorkerId worker, Claim claim, RunStatus status) ->
          "s " + worker + ' ' + claim.runId() + ' ' + claim.epoch() + ' ' + status;
      case Wake(WorkerId worker, Claim claim) ->
          "k " + worker + ' ' + claim.runId() + ' ' + claim.epoch();
      case Drain(WorkerId worker) -> "d " + worker;
      case Namespace(String namespace) -> "n " + escape(namespace);
      case Versions() -> "v";
      case Everything() -> "*";
    };
  }

  /** Nothing for a line that a newer server may understand. */
  static Optional<ServerMessage> decode(String line) {
    String[] parts = line.split(" ", -1);
    try {
      return switch (parts[0]) {
        case "w" ->
            Optional.of(
                new Work(
                    new QueueName(unescape(parts[2]), unescape(parts[3])),
                    new TypeVersion(unescape(parts[4]), unescape(parts[5])),
                    Long.parseLong(parts[1])));
        case "e" -> RunId.parse(parts[1]).map(Ended::new);
        case "s" ->
            WorkerId.parse(parts[1])
                .flatMap(
                    worker ->
                        RunId.parse(parts[2])
                            .map(
                                run ->
                                    new Stop(
                                        worker,
                                        new Claim(run, Integer.parseInt(parts[3])),
                                        RunStatus.valueOf(parts[4]))));
        case "k" ->
            WorkerId.parse(parts[1])
                .flatMap(
                    worker ->
                        RunId.parse(parts[2])
                            .map(
                                run ->
                                    new Wake(worker, new Claim(run, Integer.parseInt(parts[3])))));
        case "d" -> WorkerId.parse(parts[1]).map(Drain::new);
        case "n" -> Optional.of(new Namespace(unescape(parts[1])));
        case "v" -> Optional.of(new Versions());
        case "*" -> Optional.of(new Everything());
        default -> Optional.empty();
      };
    } catch (IndexOutOfBoundsException | IllegalArgumentException unreadable) {
      return Optional.empty();
    }
  }

  private static String escape(String text) {
    return text.isEmpty() ? "-" : "=" + URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  private static String unescape(String text) {
    return text.equals("-") ? "" : URLDecoder.decode(text.substring(1), StandardCharsets.UTF_8);
  }
}
