/**
 * Calls that may be repeated. A call that changes something outside of the journal stores its id
 * and its answer in the transaction of the change. A call with the same id finds them: it changes
 * nothing, and is answered like the first.
 *
 * <p>Promise: the effect of a call happens once, whether a client repeats the call or the server
 * does because the connection broke while PostgreSQL committed.
 *
 * <p>May know {@code db} and {@code value}. Owns {@code requests}.
 */
@NullMarked
package dev.kagzi.engine.request;

import org.jspecify.annotations.NullMarked;
