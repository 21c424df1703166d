package dev.kagzi.sdk.jdbc;

import java.time.Instant;

/**
 * Why a relay does not send some or all rows of its outbox: {@link OutboxRelay#problems}.
 *
 * @param since when it was first seen
 * @param count how many rows it concerns; for {@link Kind#OUTBOX_UNREADABLE} and {@link
 *     Kind#SERVER_UNAVAILABLE}, how often the relay has tried since then
 * @param reason the last error, or the refusal of one of the rows
 */
public record RelayProblem(Kind kind, Instant since, long count, String reason) {
  /** What is wrong. */
  public enum Kind {
    /** The relay cannot read or change the table, so it sends nothing. */
    OUTBOX_UNREADABLE,

    /** No server answers, so nothing is sent. */
    SERVER_UNAVAILABLE,

    /**
     * The server does not accept some rows at present, for example because the buffer of a run is
     * full. They are tried again, and later rows of their keys wait.
     */
    MESSAGES_WAITING,

    /** The server has refused rows: {@link OutboxTable#refused}. Later rows of their keys wait. */
    MESSAGES_REFUSED
  }
}
