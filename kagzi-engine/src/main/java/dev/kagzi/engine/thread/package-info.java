/**
 * The threads without which an engine does not work: writers, the listener, timers, the
 * coordinator. One class creates all of them, so that none can end unnoticed.
 *
 * <p>Promise: if one of these threads ends while the engine is open, or fails with an {@link Error}
 * in one of its tasks, the failure is logged and the owner of the engine is called, once.
 *
 * <p>Knows no other package.
 */
@NullMarked
package dev.kagzi.engine.thread;

import org.jspecify.annotations.NullMarked;
