package dev.kagzi.torture;

import java.util.List;

/**
 * One line of a ledger.
 *
 * @param event what happened
 * @param runId empty if it is not known yet
 * @param author who wrote it
 * @param step the step's name; for entries of a client the scenario, the run's status or the reason
 * @param attempt the attempt of the step; 0 if unknown
 * @param value what was returned, thrown, received or requested
 * @param at when, read right before the line was written
 */
record LedgerEntry(
    Event event, String runId, Author author, String step, int attempt, String value, Moment at) {

  private static final String SEPARATOR = "\t";
  private static final int FIELDS = 10;

  /** The kinds of lines. */
  enum Event {
    /** The workflow's code begins. */
    BEGIN,
    /** A step's code begins; the value is what it will return or throw. */
    EXEC,
    /** The workflow's code is about to begin a step; the value is its time-out in milliseconds. */
    LIMIT,
    /** A step's code has exceeded its time-out and is about to return the value nevertheless. */
    LATE,
    /** The workflow's code has received a step's result. */
    SEEN,
    /** The workflow's code has caught a step's final failure. */
    CAUGHT,
    /** The workflow's code has registered an undo; the value is the step that it undoes. */
    DUE,
    /** The workflow's code is about to compensate. */
    UNDOES,
    /** The workflow's code is about to sleep; the value is the duration in milliseconds. */
    SLEEP,
    /** The workflow's code continues after a sleep. */
    WOKE,
    /** The workflow's code has received a signal. */
    RECEIVED,
    /** The workflow's code has published the value. */
    PUBLISHED,
    /** The workflow's code has received the joined values of a branch. */
    JOINED,
    /** The workflow's code has received the winner of a race. */
    WON,
    /** The version of the workflow's code. */
    VERSION,
    /**
     * The code of a handler has received a run's failure; the field {@code step} is that run's
     * type.
     */
    HANDLES,
    /** The workflow's code is about to return the value. */
    END,
    /** The workflow's code is about to continue as new; the value is the next run's input. */
    CONTINUES,
    /** The client is about to start a run; the value is its input. */
    START,
    /** The start was acknowledged: the run is durable. */
    STARTED,
    /** The start was acknowledged, but another start had created the run. */
    FOUND,
    /** The answer to a cancel: it is cancelled now, or (value false) had ended before. */
    CANCELLED,
    /** The answer to a termination, as for a cancel; the field {@code step} is the given reason. */
    TERMINATED,
    /** The answer to a resume: it continues now, or (value false) could not be resumed. */
    RESUMED,
    /** A signal to the run was acknowledged; the value is its id. */
    SENT,
    /** The client, which follows a published value, has read it. */
    WATCHED,
    /**
     * The client has answered a callback, and the call was acknowledged; the field {@code step} is
     * the callback. The value is what this client sent, although another answer may have been
     * first.
     */
    ANSWERED,
    /** The workflow's code has learnt that its run is cancelled. */
    STOPPED,
    /** The workflow's code has executed its undos after the cancel. */
    CLEANED,
    /** The client has received the run's result; the field {@code step} is its status. */
    RESULT
  }

  /**
   * Who wrote a line.
   *
   * @param process the name of the process, with the number of its start
   * @param execution a unique id of one execution of a run's code; empty for clients
   * @param epoch the executed claim's epoch; 0 if unknown
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

  /** The line without its line break. No field contains a tab or a line break. */
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
