/**
 * Idempotent calls. A call that changes something outside of the journal stores its id and its
 * answer in the transaction of the change. A repeated call with the same id changes nothing and
 * returns the stored answer.
 *
 * <p>Guarantee: a call takes effect once, whether the client repeats it or the server does because
 * the connection broke during a commit.
 *
 * <p>May know {@code db} and {@code value}. Owns {@code requests}.
 */
@NullMarked
package dev.kagzi.engine.internal.request;

import org.jspecify.annotations.NullMarked;
