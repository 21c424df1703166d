/**
 * The list of runs with its filters, and actions on many runs. The set of runs of an action is
 * frozen when the action is planned: the page contains their ids, so any server can execute the
 * action.
 */
@NullMarked
package dev.kagzi.server.web.runs;

import org.jspecify.annotations.NullMarked;
