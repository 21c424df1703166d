/** Tests that need no server. */
@NullMarked
package dev.kagzi.sdk.internal.log;

import org.jspecify.annotations.NullMarked;
