/** Tests that need no server. */
@NullMarked
package dev.kagzi.sdk.internal.history;

import org.jspecify.annotations.NullMarked;
