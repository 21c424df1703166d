package dev.kagzi.cli;

import com.google.protobuf.Message;
import java.io.PrintWriter;
import java.util.function.Supplier;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes a command's output: data to standard output, everything else to standard error.
 *
 * @param isOneLine whether a JSON document is printed on one line
 */
record Output(boolean isJson, boolean isOneLine, PrintWriter out, PrintWriter err) {

  Output(boolean isJson, PrintWriter out, PrintWriter err) {
    this(isJson, false, out, err);
  }

  /** Prints a response as JSON or as text; prints nothing if the text is empty. */
  void print(ObjectNode json, Supplier<String> text) {
    String shown = isJson ? json(json) : text.get().stripTrailing();
    if (!shown.isEmpty()) {
      out.println(shown);
      out.flush();
    }
  }

  private String json(ObjectNode json) {
    return isOneLine ? json.toString() : MessageJson.text(json);
  }

  void print(Message message, Supplier<String> text) {
    print(MessageJson.of(message), text);
  }

  /** Prints a list as one JSON document or as a table. */
  void print(String name, ListPart<?> listed, Supplier<String> table) {
    print(name, listed, () -> "no " + name, table);
  }

  /** Prints a list; if it is empty, the text for that. */
  void print(String name, ListPart<?> listed, Supplier<String> none, Supplier<String> table) {
    print(listed.json(name), () -> listed.items().isEmpty() ? "" : table.get());
    if (listed.items().isEmpty() && !isJson) {
      printNote(none.get());
    } else if (!listed.nextPageToken().isEmpty() && !isJson) {
      printNote(
          "there are more: --limit shows more at once, --page-token %s continues here"
              .formatted(listed.nextPageToken()));
    }
  }

  /** Whether the program that reads the output has ended, as {@code head} does. */
  boolean isClosed() {
    return out.checkError();
  }

  void printNote(String line) {
    err.println("kagzi: " + PlainLine.brief(line));
    err.flush();
  }
}
