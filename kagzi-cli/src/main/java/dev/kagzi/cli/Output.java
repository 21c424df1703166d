package dev.kagzi.cli;

import com.google.protobuf.Message;
import java.io.PrintWriter;
import java.util.function.Supplier;
import tools.jackson.databind.node.ObjectNode;

/** Where a command's words go: data to standard output, all else to standard error. */
record Output(boolean isJson, PrintWriter out, PrintWriter err) {

  /** What was asked for, as JSON or as people read it; nothing, if the text is empty. */
  void give(ObjectNode json, Supplier<String> text) {
    String shown = isJson ? MessageJson.text(json) : text.get().stripTrailing();
    if (!shown.isEmpty()) {
      out.println(shown);
      out.flush();
    }
  }

  void give(Message message, Supplier<String> text) {
    give(MessageJson.of(message), text);
  }

  /** A list, as one JSON document or as a table. */
  void give(String name, ListPart<?> listed, Supplier<String> table) {
    give(listed.json(name), () -> listed.items().isEmpty() ? "" : table.get());
    if (listed.items().isEmpty() && !isJson) {
      say("no " + name);
    } else if (!listed.nextPageToken().isEmpty() && !isJson) {
      say(
          "there are more: --limit shows more at once, --page-token %s goes on here"
              .formatted(listed.nextPageToken()));
    }
  }

  void say(String line) {
    err.println("kagzi: " + PlainLine.brief(line));
    err.flush();
  }
}
