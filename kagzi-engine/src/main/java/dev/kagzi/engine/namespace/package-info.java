/** Namespaces: the tenants of a server. */
@NullMarked
package dev.kagzi.engine.namespace;

import org.jspecify.annotations.NullMarked;
