/** Retry and crash policies. Pure functions: the caller passes the failure and gets a decision. */
@NullMarked
package dev.kagzi.engine.retry;

import org.jspecify.annotations.NullMarked;
