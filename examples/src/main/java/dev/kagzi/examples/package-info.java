/**
 * Workflows to read and to run: {@code ./kagzi example} lists them. Each needs a server ({@code
 * ./kagzi dev}); the build runs all of them on one of its own.
 */
@NullMarked
package dev.kagzi.examples;

import org.jspecify.annotations.NullMarked;
