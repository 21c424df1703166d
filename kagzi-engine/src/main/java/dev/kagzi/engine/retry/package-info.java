/**
 * When a failed attempt is tried again. Pure arithmetic: the caller brings the failure and gets a
 * decision.
 */
@NullMarked
package dev.kagzi.engine.retry;

import org.jspecify.annotations.NullMarked;
