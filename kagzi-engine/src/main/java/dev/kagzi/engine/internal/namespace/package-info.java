/**
 * Namespaces: the tenants of a server. Rows of one namespace are neither visible nor writable from
 * another.
 *
 * <p>Owns {@code namespaces}. A client's start requires that its namespace is enabled; the start of
 * a child does not. A poll requires only that it exists, and waits while it is disabled. {@link
 * dev.kagzi.engine.namespace.Namespaces#check} answers from a cache that is at most about two
 * seconds old. The dispatcher is notified of changes, so it sends no queries about namespaces.
 *
 * <p>May know {@code db}, {@code value}, {@code page} and {@code request}. Must not know what a run
 * is.
 */
@NullMarked
package dev.kagzi.engine.internal.namespace;

import org.jspecify.annotations.NullMarked;
