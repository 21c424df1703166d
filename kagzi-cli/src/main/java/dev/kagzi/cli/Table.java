package dev.kagzi.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Text columns, as wide as their longest cell. */
final class Table {

  private static final String GAP = "  ";

  private final List<List<String>> rows = new ArrayList<>();

  Table row(String... cells) {
    rows.add(Stream.of(cells).map(PlainLine::of).toList());
    return this;
  }

  boolean isEmpty() {
    return rows.isEmpty();
  }

  /** Returns one line per row, each with the indent. */
  String text(String indent) {
    StringBuilder text = new StringBuilder();
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder(indent);
      for (int i = 0; i < row.size(); i++) {
        line.append(row.get(i));
        if (i < row.size() - 1) {
          line.append(" ".repeat(width(i) - row.get(i).length())).append(GAP);
        }
      }
      text.append(line.toString().stripTrailing()).append('\n');
    }
    return text.toString();
  }

  private int width(int column) {
    return rows.stream()
        .filter(row -> row.size() > column)
        .mapToInt(row -> row.get(column).length())
        .max()
        .orElse(0);
  }
}
