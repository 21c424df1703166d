/** The pages of namespaces: the list, and the form that creates or changes one. */
@NullMarked
package dev.kagzi.server.web.namespaces;

import org.jspecify.annotations.NullMarked;
