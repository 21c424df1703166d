/** What the page of one run computes, without HTML. */
@NullMarked
package dev.kagzi.server.web.run;

import org.jspecify.annotations.NullMarked;
