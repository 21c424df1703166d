package dev.kagzi.cli;

import dev.kagzi.protocol.v1.GetOverviewRequest;
import dev.kagzi.protocol.v1.GetOverviewResponse;
import java.time.Duration;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.databind.node.ObjectNode;

@Command(
    name = "top",
    description = {
      "Shows queues, workers, rates and the slowest types of a namespace, live.",
      "q or Ctrl-C ends it. Without a terminal, and with -o json, as with --once."
    },
    footer = {
      "",
      "Rates are differences of the counts of runs. While old runs are purged they are too low.",
      "The slowest types are found among the newest 1,000 runs.",
      "",
      "Example:",
      "  kagzi top --interval 5s"
    })
final class TopCommand extends RemoteCommand {

  @Spec private CommandSpec command = CommandSpec.create();

  @Option(
      names = "--interval",
      paramLabel = "TIME",
      defaultValue = "2s",
      description = "The time between two updates (default: ${DEFAULT-VALUE}).")
  private String interval = "";

  @Option(
      names = "--once",
      description = "Shows the state once, with the rates during one interval, and ends.")
  private boolean once;

  /** The state at a time. */
  record Sample(GetOverviewResponse overview, long nanos) {}

  @Override
  int run(RemoteServer server, Output output) {
    Duration pause = WatchOption.pause(command, "--interval", interval);
    server.requireNamespace();
    Sample first = sample(server);
    if (once || output.isJson() || !Terminal.has(Terminal.Stream.IN, Terminal.Stream.OUT)) {
      return once(server, output, pause, first);
    }
    try (Terminal.QuitKey quit = Terminal.QuitKey.ofTerminal()) {
      return live(server, new Screen(output.out(), true), pause, quit, first);
    }
  }

  private static int once(RemoteServer server, Output output, Duration pause, Sample first) {
    if (!WatchOption.sleep(pause)) {
      return ExitCode.FAILED;
    }
    Sample second = sample(server);
    Rates rates = Rates.between(first, second);
    ObjectNode json = MessageJson.of(second.overview);
    json.putObject("rates")
        .put("startsPerSecond", rates.starts())
        .put("endsPerSecond", rates.ends())
        .put("failuresPerSecond", rates.failures());
    output.print(json, () -> TopText.frame(server.namespace(), second.overview, rates));
    return ExitCode.DONE;
  }

  /** Draws until the key is pressed. A server that does not answer for a moment does not end it. */
  static int live(
      RemoteServer server, Screen screen, Duration pause, Terminal.QuitKey quit, Sample first) {
    Sample last = first;
    screen.draw(TopText.frame(server.namespace(), last.overview, null));
    while (!quit.isPressedWithin(pause.toMillis())) {
      try {
        Sample now = sample(server);
        screen.draw(TopText.frame(server.namespace(), now.overview, Rates.between(last, now)));
        last = now;
      } catch (CliException failed) {
        screen.draw("kagzi: " + PlainLine.brief(String.valueOf(failed.getMessage())));
      }
    }
    return ExitCode.DONE;
  }

  static Sample sample(RemoteServer server) {
    GetOverviewRequest request =
        GetOverviewRequest.newBuilder().setNamespace(server.namespace()).build();
    GetOverviewResponse overview = server.call(() -> server.admin().getOverview(request));
    return new Sample(overview, System.nanoTime());
  }
}
