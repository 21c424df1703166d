/**
 * Messages: the only way by which one run affects another.
 *
 * <p>Owns {@code run_messages}. A message is written in the transaction of its cause and consumed
 * in the receiver's lane, so that a lane locks only the runs of its own batch and two lanes never
 * wait for each other in a circle. It is announced in memory after the commit; a chore finds it if
 * that was lost.
 */
@NullMarked
package dev.kagzi.engine.message;

import org.jspecify.annotations.NullMarked;
