/**
 * The page of one run: facts, why it waits, a time line and a table of its steps, its payloads, and
 * the actions on it. {@code Timeline} computes the picture as percentages and without HTML; the
 * templates in {@code run/} draw it.
 */
@NullMarked
package dev.kagzi.server.web.run;

import org.jspecify.annotations.NullMarked;
