/** The first page: what happens in a namespace now, and what needs attention. */
@NullMarked
package dev.kagzi.server.web.overview;

import org.jspecify.annotations.NullMarked;
