package dev.kagzi.torture;

import java.util.List;

/**
 * The input of a run in a chain: the input of the first run, the number of this run, and the
 * signals that earlier runs have received. The input of the first run has only the first part.
 */
record ChainInput(String start, int link, String received) {
  private static final char LINK = '~';
  private static final char VALUE = ',';

  static ChainInput of(String input) {
    int at = input.indexOf(LINK);
    if (at < 0) {
      return new ChainInput(input, 1, "");
    }
    int values = input.indexOf(VALUE, at);
    int end = values < 0 ? input.length() : values;
    return new ChainInput(
        input.substring(0, at),
        Integer.parseInt(input.substring(at + 1, end)),
        input.substring(end));
  }

  /** The input of the next run, after this run has received these values. */
  String next(List<String> values) {
    StringBuilder next = new StringBuilder(start).append(LINK).append(link + 1).append(received);
    values.stream()
        .filter(value -> value.startsWith(SignalRules.MARK))
        .forEach(value -> next.append(VALUE).append(value));
    return next.toString();
  }
}
