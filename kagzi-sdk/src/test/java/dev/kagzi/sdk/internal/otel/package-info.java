/** Tests that need no server. */
@NullMarked
package dev.kagzi.sdk.internal.otel;

import org.jspecify.annotations.NullMarked;
