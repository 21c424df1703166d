/**
 * Messages between runs: the only way by which one run changes another existing run.
 *
 * <p>Owns {@code run_messages}. A message is written in the transaction of its cause and consumed
 * in the receiver's lane. A lane therefore locks only the runs of its own batch, and two lanes
 * cannot deadlock. The receiver is notified in memory after the commit; a chore delivers messages
 * whose notification was lost.
 */
@NullMarked
package dev.kagzi.engine.internal.message;

import org.jspecify.annotations.NullMarked;
