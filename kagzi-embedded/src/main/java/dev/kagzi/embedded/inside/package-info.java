/** The side of the border that knows the server. Loaded by the server's class loader only. */
@NullMarked
package dev.kagzi.embedded.inside;

import org.jspecify.annotations.NullMarked;
