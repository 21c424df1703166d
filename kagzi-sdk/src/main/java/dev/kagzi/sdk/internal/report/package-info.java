/**
 * How a worker tells the server what happened in its runs.
 *
 * <p>Promise: every item is answered, however often the server was away in between. Items of one
 * run are sent in order: the next leaves in the same call behind the previous, or after that was
 * answered. Items that gather while calls are under way go together in the next; no timer, no
 * thread of its own.
 *
 * <p>May know {@code wire}. Must not know what a step or a workflow is.
 */
@NullMarked
package dev.kagzi.sdk.internal.report;

import org.jspecify.annotations.NullMarked;
