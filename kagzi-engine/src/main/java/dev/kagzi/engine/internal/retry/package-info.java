/** How a policy is stored, and what it decides after a failure. */
@NullMarked
package dev.kagzi.engine.internal.retry;

import org.jspecify.annotations.NullMarked;
