/** The page of the task queues. */
@NullMarked
package dev.kagzi.server.web.queues;

import org.jspecify.annotations.NullMarked;
