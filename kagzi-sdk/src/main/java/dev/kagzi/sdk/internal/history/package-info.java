/**
 * Recorded runs as files: {@link dev.kagzi.sdk.internal.history.HistoryFile} is what the command
 * line writes and the test kit reads.
 *
 * <p>Promise: what is read is what was written, byte for byte of every payload. The format is
 * described in docs/testing.md and has a number; what is added to it later is optional.
 *
 * <p>May know the protocol and the public package. Must not know how runs are executed.
 */
@NullMarked
package dev.kagzi.sdk.internal.history;

import org.jspecify.annotations.NullMarked;
