package dev.kagzi.torture;

import java.util.List;

/**
 * One line of a ledger.
 *
 * @param event what happened
 * @param runId empty where it is not known yet
 * @param author who wrote it
 * @param step the step's name; for what a client writes, the scenario, the run's status or the
 *     reason
 * @param attempt of the step; 0 if unknown
 * @param value what was returned, thrown, received or asked for
 * @param at when, taken right before the line was written
 */
record LedgerEntry(
    Event event, String runId, Author author, String step, int attempt, String value, Moment at) {

  private static final String SEPARATOR = "\t";
  private static final int FIELDS = 10;

  /** What a line tells of. */
  enum Event {
    /** The workflow's code begins. */
    BEGIN,
    /** A step's code begins; the value is what it is going to return or to throw. */
    EXEC,
    /** The workflow's code is about to begin a step that may take so many milliseconds. */
    LIMIT,
    /**
     * A step's code has taken longer than it may, and is about to return the value all the same.
     */
    LATE,
    /** The workflow's code has received a step's result. */
    SEEN,
    /** The workflow's code has caught a step's final failure. */
    CAUGHT,
    /** The workflow's code is about to sleep; the value is for how many milliseconds. */
    SLEEP,
    /** The workflow's code goes on after a sleep. */
    WOKE,
    /** The workflow's code has received what a branch made of its values. */
    JOINED,
    /** The workflow's code has heard which branch of a race has won. */
    WON,
    /** The workflow's code is of this version. */
    VERSION,
    /** The code of a handler was told of the failure of a run; the step is that run's type. */
    HANDLES,
    /** The workflow's code is about to return the value. */
    END,
    /** The client asks for a run; the value is its input. */
    START,
    /** The client was told that the run is durable. */
    STARTED,
    /** The client was told that its start has found the run that another start had made. */
    FOUND,
    /** The client was told that the run is cancelled now, or (value false) had ended before. */
    CANCELLED,
    /** As with a cancel; the step is the reason that was given. */
    TERMINATED,
    /** The client was told that the run goes on now, or (value false) was not to be resumed. */
    RESUMED,
    /** The client was told how the run ended; the step is its status. */
    RESULT
  }

  /**
   * Who wrote a line.
   *
   * @param process one life of one process
   * @param execution one execution of a run's code, unique; empty for clients
   * @param epoch of the claim that is executed; 0 if unknown
   */
  record Author(String process, String execution, int epoch) {
    static Author client() {
      return new Author("client", "", 0);
    }
  }

  /**
   * @param monoNanos comparable among all processes of this machine
   * @param wallMicros comparable with the database's clock on this machine
   */
  record Moment(long monoNanos, long wallMicros) {}

  /** The line, without its end. Nothing that is written contains a tab or a line's end. */
  String line() {
    return String.join(
        SEPARATOR,
        event.name(),
        runId,
        author.process,
        author.execution,
        Integer.toString(author.epoch),
        step,
        Integer.toString(attempt),
        value,
        Long.toString(at.monoNanos),
        Long.toString(at.wallMicros));
  }

  static LedgerEntry parse(String line) {
    List<String> fields = List.of(line.split(SEPARATOR, -1));
    if (fields.size() != FIELDS) {
      throw new TortureException("ledger line: " + line + " (expected: " + FIELDS + " fields)");
    }
    return new LedgerEntry(
        Event.valueOf(fields.get(0)),
        fields.get(1),
        new Author(fields.get(2), fields.get(3), Integer.parseInt(fields.get(4))),
        fields.get(5),
        Integer.parseInt(fields.get(6)),
        fields.get(7),
        new Moment(Long.parseLong(fields.get(8)), Long.parseLong(fields.get(9))));
  }
}
