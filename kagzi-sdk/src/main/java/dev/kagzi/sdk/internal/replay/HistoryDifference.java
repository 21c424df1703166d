package dev.kagzi.sdk.internal.replay;

/**
 * The first difference between code and history; {@link dev.kagzi.sdk.ReplayDiffersException} has
 * its parts. The number is 0, and a text empty, if it does not apply.
 */
public record HistoryDifference(int number, String recorded, String asked, String message) {
  static HistoryDifference of(int number, String recorded, String asked) {
    String place = number == 0 ? "the end" : "step " + number;
    return new HistoryDifference(
        number,
        recorded,
        asked,
        "%s: on record is %s, the code %s".formatted(place, recorded, asked));
  }

  static HistoryDifference of(int number, String message) {
    String place = number == 0 ? "" : "step " + number + ": ";
    return new HistoryDifference(number, "", "", place + message);
  }
}
