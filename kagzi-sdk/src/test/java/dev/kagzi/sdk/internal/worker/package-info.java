/** Tests that need no server. */
@NullMarked
package dev.kagzi.sdk.internal.worker;

import org.jspecify.annotations.NullMarked;
