package dev.kagzi.sdk.internal.replay;

/**
 * The first thing in which code and record differ.
 *
 * @param number of the step, from 1; 0 if it is about no single one
 * @param recorded what the record says; empty if that is not the point
 * @param asked what the code does instead; empty if that is not the point
 * @param message of all that
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
