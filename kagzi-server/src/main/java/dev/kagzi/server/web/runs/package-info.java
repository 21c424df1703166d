/**
 * The list of runs with its filters, and actions on many runs. The set of an action is frozen when
 * it is planned: its page carries the ids, so any server can carry it out.
 */
@NullMarked
package dev.kagzi.server.web.runs;

import org.jspecify.annotations.NullMarked;
