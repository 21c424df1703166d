/**
 * The pages of schedules: the list, one schedule with its next fires and runs, the form that
 * creates or changes one, and actions on it.
 */
@NullMarked
package dev.kagzi.server.web.schedules;

import org.jspecify.annotations.NullMarked;
