/** The pages of workers: the list, and one worker with its events and the actions on it. */
@NullMarked
package dev.kagzi.server.web.workers;

import org.jspecify.annotations.NullMarked;
