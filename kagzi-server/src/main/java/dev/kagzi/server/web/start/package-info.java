/** The form that starts a run. */
@NullMarked
package dev.kagzi.server.web.start;

import org.jspecify.annotations.NullMarked;
