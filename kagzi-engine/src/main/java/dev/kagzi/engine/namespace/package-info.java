/**
 * Namespaces: the tenants of a server. Nothing that carries one name is seen or touched under
 * another.
 *
 * <p>Owns {@code namespaces}. Every start and every poll asks whether its namespace is there and
 * enabled; {@link dev.kagzi.engine.namespace.Namespaces#check} answers from memory, and memory is
 * never older than about a second while it is asked. Gates are told when that changes, and so ask
 * nothing at all.
 *
 * <p>May know {@code db}, {@code value} and the paging of {@code query}. Must not know what a run
 * is.
 */
@NullMarked
package dev.kagzi.engine.namespace;

import org.jspecify.annotations.NullMarked;
