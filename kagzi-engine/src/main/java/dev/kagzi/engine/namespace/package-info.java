/**
 * Namespaces: the tenants of a server. Rows of one namespace are neither visible nor writable from
 * another.
 */
@NullMarked
package dev.kagzi.engine.namespace;

import org.jspecify.annotations.NullMarked;
