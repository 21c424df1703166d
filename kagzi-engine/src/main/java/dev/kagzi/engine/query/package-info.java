/**
 * Looking at things: single rows, lists and numbers of runs, steps and workers, for people and for
 * callers who want to know.
 *
 * <p>Only reads. Every query names the namespace that it may see. Lists are walked by key, in both
 * directions, so that a page costs the same wherever it lies and neither loses nor repeats a row
 * while others come and go; an offset would do both.
 *
 * <p>What is heavy stays home: a list leaves large payloads out unless asked, and ends a page early
 * rather than answering with more bytes than a message holds.
 */
@NullMarked
package dev.kagzi.engine.query;

import org.jspecify.annotations.NullMarked;
