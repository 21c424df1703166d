/** Runs: their starts, their ends, and what workers report about them. */
@NullMarked
package dev.kagzi.engine.run;

import org.jspecify.annotations.NullMarked;
