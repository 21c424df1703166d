package dev.kagzi.sdk.internal.replay;

/**
 * The first difference between code and history.
 *
 * @param number the step's number, from 1; 0 if the difference concerns no single step
 * @param recorded what the history contains; empty if it is not relevant
 * @param asked what the code does instead; empty if it is not relevant
 * @param message the whole difference as text
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
