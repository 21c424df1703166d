/** The search for a run in all namespaces. */
@NullMarked
package dev.kagzi.server.web.search;

import org.jspecify.annotations.NullMarked;
