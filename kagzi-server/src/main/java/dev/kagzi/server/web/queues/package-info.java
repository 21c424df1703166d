/** The pages of task queues: the list, and one queue. */
@NullMarked
package dev.kagzi.server.web.queues;

import org.jspecify.annotations.NullMarked;
