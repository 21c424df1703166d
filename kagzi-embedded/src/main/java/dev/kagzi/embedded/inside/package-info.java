/**
 * The part of this module that uses the server's classes. Only the server's class loader loads it.
 */
@NullMarked
package dev.kagzi.embedded.inside;

import org.jspecify.annotations.NullMarked;
