/** Pages of lists and the tokens by which the next or previous one is requested. */
@NullMarked
package dev.kagzi.engine.page;

import org.jspecify.annotations.NullMarked;
