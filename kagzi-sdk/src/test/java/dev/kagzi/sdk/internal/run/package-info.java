/** Tests that need no server. */
@NullMarked
package dev.kagzi.sdk.internal.run;

import org.jspecify.annotations.NullMarked;
