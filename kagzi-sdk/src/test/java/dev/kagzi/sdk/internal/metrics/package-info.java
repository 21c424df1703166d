/** Tests that need no server. */
@NullMarked
package dev.kagzi.sdk.internal.metrics;

import org.jspecify.annotations.NullMarked;
