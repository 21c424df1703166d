/**
 * What workers say happened, and what becomes of it.
 *
 * <p>A lane of the journal gathers reports, locks their runs, judges each report against the locked
 * state in memory and writes what follows with one statement per kind ({@link
 * dev.kagzi.engine.transition.RunWriter}). Every report can be sent twice: its own effect is
 * recognized and answered as before.
 */
@NullMarked
package dev.kagzi.engine.transition;

import org.jspecify.annotations.NullMarked;
