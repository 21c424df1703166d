/**
 * Example workflows: {@code ./kagzi example} lists them. Each needs a server ({@code ./kagzi dev});
 * the build runs all of them on a server of its own.
 */
@NullMarked
package dev.kagzi.examples;

import org.jspecify.annotations.NullMarked;
