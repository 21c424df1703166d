package dev.kagzi.cli;

import com.google.protobuf.Message;
import dev.kagzi.protocol.v1.PageRequest;
import java.util.List;
import java.util.function.Function;
import picocli.CommandLine.Mixin;

/** A command that lists things, with --limit and --page-token, and repeatedly with --watch. */
abstract class ListCommand<M extends Message> extends RemoteCommand {

  @Mixin private ListOptions part = new ListOptions();

  @Mixin private WatchOption watch = new WatchOption();

  private final String name;

  /**
   * @param name what is listed: the field in JSON
   */
  ListCommand(String name) {
    this.name = name;
  }

  /** Returns how to read a page. Called for each list; all its pages have the same filter. */
  abstract Function<PageRequest, ListPart<M>> pages(RemoteServer server);

  /** Formats a list that is not empty. */
  abstract String text(List<M> items);

  /** Called if the list is empty: a mistyped namespace would look like an empty one. */
  void checkEmpty(RemoteServer server) {
    server.requireNamespace();
  }

  /** What the note about an empty list says. */
  String none() {
    return "no " + name;
  }

  /** Called after a list was printed as text, to point to what it leaves out. */
  void addNotes(RemoteServer server, Output output) {}

  @Override
  final int run(RemoteServer server, Output output) {
    return watch.run(output, each -> show(server, each));
  }

  private int show(RemoteServer server, Output output) {
    ListPart<M> found = part.read(pages(server));
    if (found.items().isEmpty()) {
      checkEmpty(server);
    }
    output.print(name, found, this::none, () -> text(found.items()));
    if (!output.isJson()) {
      addNotes(server, output);
    }
    return ExitCode.DONE;
  }
}
